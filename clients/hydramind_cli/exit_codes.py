"""What the shell's exit status means: sysexits, as the daemon uses them. Documented in docs/cli.md."""

from __future__ import annotations

from enum import IntEnum

from hydramind_client import errors


class ExitCode(IntEnum):
    """Exit status of `hydramind`."""

    OK = 0
    """Done. A recall that abstains is an answer, too."""
    FAILED = 1
    """It did not work for a reason that has no code of its own, or a check found problems."""
    USAGE = 64
    """Unknown command or option, or a missing argument."""
    DATA = 65
    """A value is not allowed, or lines of an import were refused."""
    NOT_FOUND = 66
    """The memory, scope or file does not exist."""
    UNAVAILABLE = 69
    """The daemon cannot be reached or started."""
    CANNOT_CREATE = 73
    """The output exists already or cannot be created."""
    IO_ERROR = 74
    """Reading or writing failed."""
    TRY_AGAIN = 75
    """Another writer was first, the deadline passed, or something is full: the same command may work later."""
    NO_PERMISSION = 77
    """Files or folders belong to somebody else, or are open to others."""
    CONFIGURATION = 78
    """A setting has a value that is not allowed."""
    INTERRUPTED = 130
    """Ctrl-C."""


_BY_CLASS: tuple[tuple[type[errors.HydraMindError], ExitCode], ...] = (
    (errors.InvalidArgument, ExitCode.DATA),
    (errors.NotFound, ExitCode.NOT_FOUND),
    (errors.AlreadyExists, ExitCode.CANNOT_CREATE),
    (errors.Conflict, ExitCode.TRY_AGAIN),
    (errors.DeadlineExceeded, ExitCode.TRY_AGAIN),
    (errors.ResourceExhausted, ExitCode.TRY_AGAIN),
    (errors.PermissionDenied, ExitCode.NO_PERMISSION),
    (errors.Unavailable, ExitCode.UNAVAILABLE),
)


def exit_code_of(error: errors.HydraMindError) -> ExitCode:
    """Exit status for an error; a daemon that died while it started passes its own on."""
    stated = error.metadata.get("exit_code", "")
    if stated.isdigit() and int(stated) in set(ExitCode) and int(stated) >= ExitCode.USAGE:
        return ExitCode(int(stated))
    return next((code for kind, code in _BY_CLASS if isinstance(error, kind)), ExitCode.FAILED)
