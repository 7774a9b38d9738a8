"""What the daemon's exit status means (sysexits), so that units, spawners and people can tell faults apart."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of `python -m hydramind_daemon`; documented for operators in docs/ops/running.md."""

    OK = 0
    FAILURE = 1
    """A bug: something that nobody foresaw; the log has the traceback."""
    USAGE = 64
    """Unknown or malformed command-line argument."""
    DATA = 65
    """The store is damaged beyond what can be set aside, or was written by a newer version."""
    UNAVAILABLE = 69
    """The store cannot be reached."""
    CANNOT_CREATE = 73
    """A folder, socket or file cannot be created: read-only or full disk, wrong path."""
    IO_ERROR = 74
    """Reading or writing failed."""
    BUSY = 75
    """Another daemon holds the instance lock of this home."""
    NO_PERMISSION = 77
    """Files or folders belong to somebody else or are open to others."""
    CONFIGURATION = 78
    """A setting has a value that is not allowed."""


class DaemonExit(Exception):
    """Ends the process with `code` after `message` was logged."""

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
