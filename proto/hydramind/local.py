"""Where one HydraMind lives on this machine: folders, sockets, locks, and which build this is.

Every process of an installation (daemon, shell, Python client, MCP shim, MCP host) derives its addresses from here, so
that they always meet. The MCP shim starts in a few milliseconds and imports this module: nothing but `os`, `sys` and
what the interpreter has loaded anyway may be imported at the top. Paths are absolute `str` for the same reason.
"""

# Reason: importing pathlib costs each shim several milliseconds.
# ruff: noqa: PTH100, PTH102, PTH112, PTH116, PTH118, PTH119, PTH120, PTH123

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "0.1.0"
"""Version of the package; equals `project.version` in pyproject.toml (a test holds them together)."""

API_LEVEL = 1
"""Level of the gRPC surface; raised when a client needs something that an older daemon does not have."""

SOCKET_PATH_MAX = 103
"""Longest path of a Unix socket in bytes: `sun_path` holds 104 with its end mark on macOS (108 on Linux)."""

UNIT_NAME = "hydramind.service"
"""Name of the systemd unit, user or system."""

DAEMON_MODULE = "hydramind_daemon"
"""Started as `python -m hydramind_daemon`; front ends never import it."""

READY = "READY"
"""First word on the readiness descriptor: `READY <pid>` once calls are answered."""

BUSY = "BUSY"
"""First word on the readiness descriptor: `BUSY <pid>` when another daemon holds the instance lock."""

_PACKAGES = (
    ("proto", "hydramind"),
    ("daemon", "hydramind_domain"),
    ("daemon", "hydramind_daemon"),
    ("clients", "hydramind_client"),
    ("clients", "hydramind_cli"),
    ("mcp_frontend", "hydramind_mcp"),
)


class AddressError(OSError):
    """A folder that must belong to this user alone does not. The message says which and what to do."""


class Addresses:
    """All paths of one home.

    `home` holds the store; `socket` is where the daemon listens. `instance_lock` is flock-held by the daemon from
    before it binds until after it has stopped, `spawn_lock` by whoever starts or idles out a daemon; `locks_dir` holds
    one fcntl lock file a scope. The `mcp_*` names are the MCP host's own set. Locks are never unlinked.
    """

    __slots__ = (
        "config_dir",
        "home",
        "instance_lock",
        "locks_dir",
        "log_file",
        "mcp_host_lock",
        "mcp_log_file",
        "mcp_manifest",
        "mcp_socket",
        "mcp_spawn_lock",
        "socket",
        "spawn_lock",
        "store_file",
    )

    def __init__(self, home: str, socket: str, mcp_socket: str, config_dir: str, mcp_name: str) -> None:
        join = os.path.join
        self.home = home
        self.socket = socket
        self.config_dir = config_dir
        self.store_file = join(home, "hydramind.db")
        self.instance_lock = join(home, "daemon.lock")
        self.spawn_lock = join(home, "spawn.lock")
        self.locks_dir = join(home, "locks")
        self.log_file = join(home, "logs", "daemon.log")
        self.mcp_socket = mcp_socket
        self.mcp_host_lock = join(home, mcp_name + ".lock")
        self.mcp_spawn_lock = join(home, mcp_name + "-spawn.lock")
        self.mcp_log_file = join(home, "logs", mcp_name + "-host.log")
        self.mcp_manifest = join(home, mcp_name + "-manifest.json")

    def __repr__(self) -> str:
        return f"Addresses(home={self.home!r}, socket={self.socket!r})"

    def make_folders(self) -> None:
        """Create the folders that hold sockets, locks, logs and store, for this user only.

        Raises `OSError` when they cannot be created and `AddressError` when a socket folder is open to others.
        """
        for folder in (self.home, self.locks_dir, os.path.dirname(self.log_file)):
            make_private(folder)
        for path in (self.socket, self.mcp_socket):
            make_private(os.path.dirname(path))
            check_private(os.path.dirname(path))


def addresses(environ: "Mapping[str, str] | None" = None, home: str = "", socket: str = "") -> Addresses:
    """Work out every address from the environment; `home` and `socket` (flags) win over it. Creates nothing."""
    env = os.environ if environ is None else environ
    place = _absolute(home, env) if home else resolve_home(env)
    asked = socket or env.get("HYDRAMIND_SOCKET", "")
    own_socket = _socket_path(place, "daemon.sock", env)
    listen = _absolute(asked, env, follow=False) if asked else own_socket
    name = "mcp" if listen == own_socket else "mcp-" + _digest(listen.encode(), 4)
    return Addresses(place, listen, _socket_path(place, name + ".sock", env), config_dir(env), name)


def resolve_home(environ: "Mapping[str, str] | None" = None) -> str:
    """Folder that holds the store: HYDRAMIND_HOME, else our unit's STATE_DIRECTORY, else the user's data folder."""
    env = os.environ if environ is None else environ
    explicit = env.get("HYDRAMIND_HOME", "")
    return _absolute(explicit, env) if explicit else _default_home(env)


def config_dir(environ: "Mapping[str, str] | None" = None) -> str:
    """Folder of `config.toml` when HYDRAMIND_CONFIG does not name a file."""
    env = os.environ if environ is None else environ
    unit = _unit_directory(env, "CONFIGURATION_DIRECTORY")
    if unit:
        return unit
    base = _xdg(env, "XDG_CONFIG_HOME")
    if not base and sys.platform == "darwin":
        return os.path.join(_user_home(env), "Library", "Application Support", "HydraMind")
    return os.path.join(base or os.path.join(_user_home(env), ".config"), "hydramind")


def user_unit_file(environ: "Mapping[str, str] | None" = None) -> str:
    """Where the systemd user unit is when installed; front ends start the unit instead of a process if it exists."""
    env = os.environ if environ is None else environ
    base = _xdg(env, "XDG_CONFIG_HOME") or os.path.join(_user_home(env), ".config")
    return os.path.join(base, "systemd", "user", UNIT_NAME)


def make_private(folder: str) -> None:
    """Create `folder` and its parents, mode 0700, unless it exists (an existing one keeps its mode)."""
    if not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if not os.path.isdir(parent):
            make_private(parent)
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def check_private(folder: str) -> None:
    """Raise `AddressError` unless `folder` is a real folder of this user that nobody else can write or enter.

    gRPC knows no peer credentials on a Unix socket, so the folder is what keeps other users out.
    """
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise AddressError(f"{folder} holds the socket and must be a folder, not a link or a file")
    if found.st_uid != os.geteuid():
        raise AddressError(f"{folder} holds the socket and belongs to uid {found.st_uid}, not to {os.geteuid()}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise AddressError(f"{folder} holds the socket and is open to others: run chmod 700 {folder}")


def grpc_target(socket: str) -> str:
    """Address of a Unix socket as gRPC takes it: a URI, so that `%`, `?` and `#` in a path must be escaped.

    Unescaped, a server binds one path and a client connects to another, or neither works.
    """
    from urllib.parse import quote

    return "unix:" + quote(socket)


def read_holder(lock_file: str) -> "tuple[int, str]":
    """Pid and socket that the last holder wrote into its instance lock; (0, "") when unknown.

    Only a diagnosis: the flock alone says whether there is a holder now. Useful when the holder listens somewhere else
    than this process would look.
    """
    try:
        with open(lock_file, "rb") as file:
            words = file.read(4096).decode("utf-8", "replace").split("\n")
    except OSError:
        return 0, ""
    pid = int(words[0]) if words[0].isdigit() else 0
    return pid, words[1] if len(words) > 1 else ""


def version() -> str:
    """Version of the installed package."""
    return VERSION


def build_id() -> str:
    """Which build is installed: version and a digest over place, size and time of every source file.

    Two installs of one version differ, and so does a checkout after an edit; all processes of one install agree. Costs
    one `stat` a file, no reads.
    """
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seen: list[str] = []
    for folder, package in _PACKAGES:
        beside = os.path.join(root, package)
        if not os.path.isdir(beside):
            beside = os.path.join(os.path.dirname(root), folder, package)
        _stamp(beside, seen)
    seen.sort()
    return f"{VERSION}+{_digest(chr(10).join(seen).encode(), 8)}"


def _stamp(folder: str, seen: "list[str]") -> None:
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    _stamp(entry.path, seen)
            elif not entry.name.endswith((".pyc", ".pyi")):
                info = entry.stat()
                seen.append(f"{entry.path}\0{info.st_size}\0{info.st_mtime_ns}")


def _default_home(env: "Mapping[str, str]") -> str:
    unit = _unit_directory(env, "STATE_DIRECTORY")
    if unit:
        return os.path.realpath(unit)
    base = _xdg(env, "XDG_DATA_HOME")
    if not base and sys.platform == "darwin":
        return os.path.realpath(os.path.join(_user_home(env), "Library", "Application Support", "HydraMind"))
    base = base or os.path.join(_user_home(env), ".local", "share")
    return os.path.realpath(os.path.join(base, "hydramind"))


def _socket_path(home: str, name: str, env: "Mapping[str, str]") -> str:
    # How the home was given must not matter, only which it is: a daemon started with --home meets a client without.
    runtime = _runtime_dir(env) if home == _default_home(env) else ""
    path = os.path.join(runtime, name) if runtime else os.path.join(home, "run", name)
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX:
        return path
    # Not TMPDIR: agents run tools with one of their own, and then two processes would not meet.
    return os.path.join(f"/tmp/hydramind-{os.getuid()}", f"{_digest(path.encode(), 8)}.sock")  # noqa: S108 - checked


def _runtime_dir(env: "Mapping[str, str]") -> str:
    unit = _unit_directory(env, "RUNTIME_DIRECTORY")
    if unit:
        return unit
    # cron and sudo shells lack the variable; the folder that systemd gives the user is the same one.
    for base in (env.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}"):
        if base.startswith("/") and _is_own_folder(base):
            return os.path.join(base, "hydramind")
    return ""


def _is_own_folder(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _unit_directory(env: "Mapping[str, str]", name: str) -> str:
    """Our own folder out of systemd's colon-separated list: an agent may itself run inside some other unit."""
    for path in env.get(name, "").split(":"):
        if path.startswith("/") and os.path.basename(path.rstrip("/")) == "hydramind":
            return path.rstrip("/")
    return ""


def _xdg(env: "Mapping[str, str]", name: str) -> str:
    value = env.get(name, "")
    return value if value.startswith("/") else ""  # the specification says: ignore relative ones


def _user_home(env: "Mapping[str, str]") -> str:
    home = env.get("HOME", "")
    if home.startswith("/"):
        return home
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def _absolute(path: str, env: "Mapping[str, str]", *, follow: bool = True) -> str:
    if path == "~" or path.startswith("~/"):
        path = _user_home(env) + path[1:]
    return os.path.realpath(path) if follow else os.path.abspath(path)


def _digest(data: bytes, size: int) -> str:
    try:
        from _blake2 import blake2b  # hashlib loads OpenSSL, a few milliseconds for each shim
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=size).hexdigest()
