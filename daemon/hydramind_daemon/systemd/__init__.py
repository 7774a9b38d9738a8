"""Units for service managers: systemd (user, system) and a macOS LaunchAgent.

Front ends do not import the daemon; they print a unit with `python -m hydramind_daemon.systemd user`.
"""

from enum import StrEnum
from importlib.resources import files
from xml.sax.saxutils import escape

from hydramind_daemon.exit_codes import ExitCode

NOT_RESTARTED = (
    ExitCode.USAGE,
    ExitCode.DATA,
    ExitCode.CANNOT_CREATE,
    ExitCode.BUSY,
    ExitCode.NO_PERMISSION,
    ExitCode.CONFIGURATION,
)
"""Exit codes after which the units do not start the daemon again (RestartPreventExitStatus)."""

_HOMES = ("/home/", "/root/")


class UnitKind(StrEnum):
    """Which service manager a unit is for."""

    USER = "user"
    SYSTEM = "system"
    LAUNCHD = "launchd"


def render_unit(kind: UnitKind | str, executable: str, *, user: str = "hydramind", log_file: str = "") -> str:
    """Text of the unit.

    `executable` is the absolute path of the Python interpreter that HydraMind is installed in; `user` is the account of
    the system unit; `log_file` is where launchd puts stderr (systemd has its journal). Raises ValueError for a kind
    that does not exist, a relative path, or text that would change the unit's meaning.
    """
    which = UnitKind(kind)
    for text in (executable, user, log_file):
        if any(ord(character) < 32 for character in text) or '"' in text:
            raise ValueError(f"a unit cannot hold {text!r}")
    if not executable.startswith("/"):
        raise ValueError(f"the executable must be an absolute path; got {executable!r}")
    name = "launchd.plist" if which is UnitKind.LAUNCHD else f"{which}.service"
    template = files(__package__).joinpath(name).read_text(encoding="utf-8")
    quote = escape if which is UnitKind.LAUNCHD else _systemd_word
    values = {
        "@EXECUTABLE@": quote(executable),
        "@USER@": user,
        "@LOG_FILE@": escape(log_file or "/dev/null"),
        # An installation in somebody's home must stay readable to run at all.
        "@PROTECT_HOME@": "read-only" if executable.startswith(_HOMES) else "yes",
    }
    for mark, value in values.items():
        template = template.replace(mark, value)
    return template


def _systemd_word(text: str) -> str:
    """One word of a command line: specifiers, variables, escapes and spaces mean themselves."""
    plain = text.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if plain != text or " " in text else text
