"""Every setting of HydraMind, declared once: flags win over the environment, that over the file, that over defaults.

A setting is a field of one of the groups below; its name is `<group>.<field>`, which is also its place in the TOML
file. `load` answers typed groups together with where each value came from; `rows` is what `config show` prints.
`home`, `socket`, `config`, `scope` and `no_spawn` cannot stand in the file: they are needed before it is read, and by
the MCP shim, which reads no file.
"""

import difflib
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from hydramind.local import config_dir

Value = str | int | float | bool | None
"""A setting's value; None only where unset has a meaning of its own."""

EXIT_CODE = 78
"""EX_CONFIG: what a process exits with after a `SettingsError`."""

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class Source(StrEnum):
    """Where a value came from, strongest first."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value came from: the source, and which flag, variable or file in words."""

    source: Source
    detail: str


@dataclass(frozen=True, slots=True)
class Spec:
    """Declaration of one setting."""

    name: str
    env: str
    flag: str
    kind: type[str] | type[int] | type[float] | type[bool]
    default: Value
    help: str
    in_file: bool
    secret: bool
    reloadable: bool
    choices: tuple[str, ...]
    low: float
    high: float

    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return "text"
        noun = "a whole number" if self.kind is int else "a number"
        return f"{noun} from {_plain(self.low)} to {_plain(self.high)}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `config show`: the value as text (secrets masked) and where it came from."""

    name: str
    value: str
    source: Source
    detail: str
    env: str
    help: str


class SettingsError(ValueError):
    """A setting has a value that is not allowed, or the file cannot be read; `exit_code` is 78.

    `setting` names it (empty: the file as a whole) and `origin` says where the value came from.
    """

    exit_code = EXIT_CODE

    def __init__(self, message: str, *, setting: str = "", origin: str = "") -> None:
        super().__init__(message)
        self.setting = setting
        self.origin = origin


def _setting(
    default: Value,
    text: str,
    *,
    env: str,
    flag: str = "",
    in_file: bool = True,
    secret: bool = False,
    reloadable: bool = False,
    choices: tuple[str, ...] = (),
    low: float = -math.inf,
    high: float = math.inf,
) -> Any:
    meta = {
        "help": text,
        "env": env,
        "flag": flag,
        "in_file": in_file,
        "secret": secret,
        "reloadable": reloadable,
        "choices": choices,
        "low": low,
        "high": high,
    }
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class PlaceSettings:
    """What is needed before a file can be read. Empty: the built-in rule (see `hydramind.local`)."""

    home: str = _setting(
        "", "Folder that holds the store. Empty: the user's data folder.", env="HYDRAMIND_HOME", flag="--home",
        in_file=False,
    )  # fmt: skip
    socket: str = _setting(
        "", "Socket of the daemon. Empty: derived from home.", env="HYDRAMIND_SOCKET", flag="--socket", in_file=False
    )
    config: str = _setting(
        "", "TOML file with settings. Empty: config.toml in the user's configuration folder, if there.",
        env="HYDRAMIND_CONFIG", flag="--config", in_file=False,
    )  # fmt: skip
    scope: str = _setting(
        "", "Scope of calls that name none. Empty: the project's, else `default`.", env="HYDRAMIND_SCOPE",
        flag="--scope", in_file=False,
    )  # fmt: skip
    no_spawn: bool = _setting(
        default=False, text="Never start a daemon on demand.", env="HYDRAMIND_NO_SPAWN", flag="--no-spawn", in_file=False
    )


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """Constants of the trust rules; kept in each event, so that a change never rewrites the past."""

    contradiction_drop: float = _setting(
        0.40, "What a contradiction takes from the older memory.", env="HYDRAMIND_TRUST_CONTRADICTION_DROP",
        low=0.0, high=1.0, reloadable=True,
    )  # fmt: skip
    hop_drop: float = _setting(
        0.15, "What it takes from memories derived from that one, times their distance.",
        env="HYDRAMIND_TRUST_HOP_DROP", low=0.0, high=1.0, reloadable=True,
    )  # fmt: skip
    hops: int = _setting(
        2, "How far a contradiction spreads along DERIVED_FROM.", env="HYDRAMIND_TRUST_HOPS", low=0, high=8,
        reloadable=True,
    )  # fmt: skip
    floor: float = _setting(
        0.05, "Trust never falls below this.", env="HYDRAMIND_TRUST_FLOOR", low=0.0, high=1.0, reloadable=True
    )


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """When recall answers, and how much."""

    scorer: str = _setting(
        "coverage", "How relevance is measured.", env="HYDRAMIND_RECALL_SCORER", choices=("coverage", "keyword"),
        reloadable=True,
    )  # fmt: skip
    threshold: float | None = _setting(
        None, "Score below which recall abstains. Unset: the scorer's own.", env="HYDRAMIND_RECALL_THRESHOLD",
        low=0.0, high=1.0, reloadable=True,
    )  # fmt: skip
    limit: int = _setting(
        10, "Memories answered when the call names no limit.", env="HYDRAMIND_RECALL_LIMIT", low=1, high=100,
        reloadable=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """A graph database as the record. This build has the embedded record only: an address or token is refused."""

    uri: str = _setting("", "Address of a graph database (not in this build).", env="HYDRAMIND_URI")
    token: str = _setting("", "Its token or password (not in this build).", env="HYDRAMIND_TOKEN", secret=True)
    username: str = _setting("", "Its user name; unused with the embedded record.", env="HYDRAMIND_USERNAME")
    database: str = _setting("", "Its database; unused with the embedded record.", env="HYDRAMIND_DATABASE")


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """The process."""

    idle_exit_s: float = _setting(
        1800.0, "A daemon that was started on demand stops after this long without work. 0: never.",
        env="HYDRAMIND_IDLE_EXIT_S", flag="--idle-exit-s", low=0.0, high=604_800.0, reloadable=True,
    )  # fmt: skip
    drain_s: float = _setting(
        10.0, "Calls under way get this long when it stops.", env="HYDRAMIND_DRAIN_S", flag="--drain-s", low=0.0,
        high=60.0, reloadable=True,
    )  # fmt: skip
    batch_max: int = _setting(64, "Commands in one transaction, at most.", env="HYDRAMIND_BATCH_MAX", low=1, high=1024)
    batch_wait_ms: float = _setting(
        5.0, "How long a batch waits for company. 0: not at all.", env="HYDRAMIND_BATCH_WAIT_MS", low=0.0, high=1000.0
    )
    readers: int = _setting(
        2, "Connections that read, one thread each.", env="HYDRAMIND_READERS", low=1, high=64
    )  # fmt: skip
    max_calls: int = _setting(
        1024, "Calls at once beyond which new ones are refused.", env="HYDRAMIND_MAX_CALLS", low=8, high=65_536
    )
    max_watches: int = _setting(
        128, "Watch streams at once; they do not count as calls.", env="HYDRAMIND_MAX_WATCHES", low=1, high=4096
    )
    metrics_file: str = _setting(
        "", "File for numbers in Prometheus text form, for a collector of text files. Empty: none.",
        env="HYDRAMIND_METRICS_FILE", reloadable=True,
    )  # fmt: skip
    event_loop: str = _setting("uvloop", "Event loop of the daemon.", env="HYDRAMIND_EVENT_LOOP", choices=("uvloop", "asyncio"))


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The daemon's log on stderr. Memory content appears at level debug only."""

    level: str = _setting(
        "info", "Least severe level that is logged.", env="HYDRAMIND_LOG_LEVEL", flag="--log-level",
        choices=("debug", "info", "warning", "error"), reloadable=True,
    )  # fmt: skip
    format: str = _setting(
        "auto", "auto: console on a terminal, journal under systemd, else json.", env="HYDRAMIND_LOG_FORMAT",
        flag="--log-format", choices=("auto", "console", "json", "journal"),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, valid, and where each came from."""

    place: PlaceSettings
    trust: TrustSettings
    recall: RecallSettings
    record: RecordSettings
    daemon: DaemonSettings
    log: LogSettings
    origins: Mapping[str, Origin]
    file: str
    warnings: tuple[str, ...]

    def get(self, name: str) -> Value:
        """Value of the setting with this name."""
        group, _, key = _full(name).partition(".")
        value: Value = getattr(getattr(self, group), key)
        return value

    def rows(self) -> Iterator[Row]:
        """One row a setting, in the order of declaration, secrets masked."""
        for spec in SPECS.values():
            origin = self.origins[spec.name]
            text = _shown(spec, self.get(spec.name))
            yield Row(spec.name, text, origin.source, origin.detail, spec.env, spec.help)


_GROUPS: dict[str, type[Any]] = {
    "place": PlaceSettings,
    "trust": TrustSettings,
    "recall": RecallSettings,
    "record": RecordSettings,
    "daemon": DaemonSettings,
    "log": LogSettings,
}


def _spec(group: str, item: "Field[Any]") -> Spec:
    annotated = item.type
    kind = annotated if isinstance(annotated, type) else float  # `float | None` is the only union there is
    assert item.default is not MISSING
    # The five of `place` are known by their bare names: they have no place in the file.
    name = item.name if group == "place" else f"{group}.{item.name}"
    return Spec(name=name, kind=kind, default=item.default, **item.metadata)


SPECS: dict[str, Spec] = {
    spec.name: spec for group, kind in _GROUPS.items() for item in fields(kind) for spec in [_spec(group, item)]
}
"""Every setting by name, in the order of declaration."""


def load(flags: Mapping[str, Value] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read all settings. `flags` are by setting name; None there means: not given.

    Raises `SettingsError` naming the setting, where its value came from and what is allowed.
    """
    env = os.environ if environ is None else environ
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    for name in given:
        if name not in SPECS:
            raise SettingsError(f"no setting is called {name}{_near(name, SPECS)}", setting=name)
    path, required = _config_path(given, env)
    table = _read_file(path, required=required)
    values: dict[str, Value] = {}
    origins: dict[str, Origin] = {}
    for spec in SPECS.values():
        values[spec.name], origins[spec.name] = _choose(spec, given, env, table, path)
    return _assemble(values, origins, path if table is not None else "", tuple(_odd_variables(env)))


def refuse_missing_record(settings: Settings) -> None:
    """Raise `SettingsError` when a graph database is configured: this build only has the embedded record.

    Silently ignoring it would put memories where their owner does not expect them.
    """
    for name in ("record.uri", "record.token"):
        if settings.get(name):
            where = settings.origins[name].detail
            raise SettingsError(
                f"{name} is set ({where}), but this build has only the embedded record: remove it to start",
                setting=name,
                origin=where,
            )


def changed_needing_restart(old: Settings, new: Settings) -> tuple[str, ...]:
    """Names of settings that differ and that a running daemon does not take over on SIGHUP."""
    return tuple(n for n, spec in SPECS.items() if not spec.reloadable and old.get(n) != new.get(n))


def render_env_example() -> str:
    """Text of `.env.example`: every variable, commented out with its default, each under its explanation."""
    lines = ["# Settings of HydraMind as environment variables. Flags win over these, these over config.toml.", ""]
    for spec in SPECS.values():
        lines += [f"# {spec.help}", f"# Allowed: {spec.allowed()}.", f"#{spec.env}={_text(spec.default)}", ""]
    return "\n".join(lines)


def render_toml_example() -> str:
    """Text of an example `config.toml`: every setting that may stand there, commented out with its default."""
    lines: list[str] = []
    for group in _GROUPS:
        specs = [s for s in SPECS.values() if s.in_file and s.name.startswith(group + ".")]
        lines += [f"[{group}]"] if specs else []
        for spec in specs:
            lines += [f"# {spec.help} Allowed: {spec.allowed()}.", f"#{spec.name.partition('.')[2]} = {_toml(spec)}"]
        lines += [""] if specs else []
    return "\n".join(lines)


def render_markdown() -> str:
    """Table of all settings for the documentation."""
    lines = ["| name | variable | flag | default | allowed | SIGHUP | what it does |", "|---|---|---|---|---|---|---|"]
    for spec in SPECS.values():
        default = f"`{_text(spec.default)}`" if spec.default not in {None, ""} else "unset"
        name = f"`{spec.name}`" if spec.in_file else f"{spec.name} (not in the file)"
        flag = f"`{spec.flag}`" if spec.flag else ""
        reload = "yes" if spec.reloadable else "restart"
        lines.append(f"| {name} | `{spec.env}` | {flag} | {default} | {spec.allowed()} | {reload} | {spec.help} |")
    return "\n".join(lines) + "\n"


def _assemble(values: Mapping[str, Value], origins: Mapping[str, Origin], file: str, warnings: tuple[str, ...]) -> Settings:
    groups: dict[str, Any] = {}
    for group, kind in _GROUPS.items():
        prefix = "" if group == "place" else group + "."
        groups[group] = kind(**{item.name: values[prefix + item.name] for item in fields(kind)})
    return Settings(origins=origins, file=file, warnings=warnings, **groups)


def _choose(
    spec: Spec, flags: Mapping[str, Value], env: Mapping[str, str], table: Mapping[str, Any] | None, path: str
) -> tuple[Value, Origin]:
    if spec.name in flags:
        origin = Origin(Source.FLAG, spec.flag or "flag")
        return _checked(spec, flags[spec.name], origin), origin
    if env.get(spec.env, ""):  # empty means unset, as everywhere
        origin = Origin(Source.ENVIRONMENT, spec.env)
        return _checked(spec, env[spec.env], origin), origin
    group, _, key = spec.name.partition(".")
    if spec.in_file and table is not None and key in table.get(group, {}):
        origin = Origin(Source.FILE, path)
        return _checked(spec, table[group][key], origin), origin
    return spec.default, Origin(Source.DEFAULT, "built in")


def _checked(spec: Spec, raw: Value, origin: Origin) -> Value:
    try:
        value = _converted(spec, raw)
    except ValueError:
        value = None
    if value is None or (spec.choices and value not in spec.choices) or not _in_range(spec, value):
        got = "its value" if spec.secret else repr(raw)
        raise SettingsError(
            f"{spec.name} from {origin.source} ({origin.detail}) must be {spec.allowed()}; got {got}",
            setting=spec.name,
            origin=origin.detail,
        )
    return value


def _converted(spec: Spec, raw: Value) -> Value:
    """Value in the setting's type; None or ValueError when it has none. From a file, types must already fit."""
    if spec.kind is bool:
        return raw if isinstance(raw, bool) else _boolean(raw)
    if spec.kind is str:
        text = raw if isinstance(raw, str) else None
        return None if text is None or "\0" in text else text
    if isinstance(raw, bool) or raw is None:
        return None
    if spec.kind is int:
        return int(raw) if isinstance(raw, (int, str)) else None
    return float(raw)


def _boolean(raw: Value) -> bool | None:
    word = raw.strip().lower() if isinstance(raw, str) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _in_range(spec: Spec, value: Value) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return math.isfinite(value) and spec.low <= value <= spec.high
    return True


def _config_path(flags: Mapping[str, Value], env: Mapping[str, str]) -> tuple[str, bool]:
    """File to read and whether it must exist: one that was named must."""
    named = flags.get("config") or env.get("HYDRAMIND_CONFIG", "")
    if named:
        return str(Path(str(named)).expanduser().absolute()), True
    return str(Path(config_dir(env)) / "config.toml"), False


def _read_file(path: str, *, required: bool) -> Mapping[str, Any] | None:
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise SettingsError(f"the configuration file {path} does not exist", origin=path) from None
        return None
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}", origin=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}", origin=path) from error
    _refuse_unknown(table, path)
    return table


def _refuse_unknown(table: Mapping[str, Any], path: str) -> None:
    in_file = [spec.name for spec in SPECS.values() if spec.in_file]
    for group, content in table.items():
        keys = content if isinstance(content, Mapping) else {}
        names = [f"{group}.{key}" for key in keys] if isinstance(content, Mapping) else [group]
        for name in names:
            if name in in_file:
                continue
            if name.removeprefix("place.") in SPECS:
                raise SettingsError(f"{name} cannot stand in {path}: use its flag or variable", setting=name, origin=path)
            raise SettingsError(f"{path} has an unknown setting {name}{_near(name, in_file)}", setting=name, origin=path)


def _odd_variables(env: Mapping[str, str]) -> Iterator[str]:
    known = {spec.env for spec in SPECS.values()}
    for name in sorted(env):
        if name.startswith("HYDRAMIND_") and name not in known:
            yield f"{name} is not a setting{_near(name, known)}"


def _near(name: str, known: "Mapping[str, Spec] | set[str] | list[str]") -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""


def _full(name: str) -> str:
    return name if "." in name else f"place.{name}"


def _shown(spec: Spec, value: Value) -> str:
    return "********" if spec.secret and value else _text(value)


def _text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _plain(value) if isinstance(value, float) else str(value)


def _toml(spec: Spec) -> str:
    if spec.kind is str:
        return f'"{spec.default}"'
    return _text(spec.default) or "0.5"


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:g}"
