"""Logs on stderr: JSON, console or journal lines. Set up once, before serving.

Two rules: memory content appears at debug level only (`redact_content` takes it out above), and nothing that looks
like a secret appears at all.
"""

import logging
import os
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

_CONTENT_KEYS = frozenset({"content", "query", "text", "memory", "memories", "request", "response", "snippet", "label"})
_SECRET_WORDS = ("token", "password", "secret", "authorization", "api_key", "apikey", "credential")
_HIDDEN = "********"
_SYSLOG = {"debug": 7, "info": 6, "warning": 4, "error": 3, "exception": 3, "critical": 2}


class LogLevel:
    """The least severe level that is logged; changed while running by SIGHUP."""

    def __init__(self, name: str) -> None:
        self._minimum = LEVELS[name]

    def set(self, name: str) -> None:
        """Log from this level on."""
        self._minimum = LEVELS[name]
        logging.getLogger().setLevel(self._minimum)

    def drop_below(self, _logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """Processor: end the line when its level is below the minimum."""
        if LEVELS.get(method, logging.ERROR) < self._minimum:
            raise structlog.DropEvent
        return event


def configure(level: str, form: str, environ: Mapping[str, str], stream: TextIO | None = None) -> LogLevel:
    """Set up structlog and the standard library's logging onto one stream; answers the handle that changes the level."""
    out = sys.stderr if stream is None else stream
    minimum = LogLevel(level)
    chosen = choose_format(form, environ, out)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        minimum.drop_below,
        redact_content,
        redact_secrets,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, *_renderers(chosen, out)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    _adopt_standard_logging(minimum, level)
    return minimum


def choose_format(form: str, environ: Mapping[str, str], stream: TextIO) -> str:
    """`auto` resolved: journal when systemd reads this very stream, console on a terminal, else json."""
    if form != "auto":
        return form
    if _is_journal(environ.get("JOURNAL_STREAM", ""), stream):
        return "journal"
    return "console" if stream.isatty() else "json"


def redact_content(_logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Processor: memory content stays out of the log, except at debug level."""
    if method != "debug":
        for key in _CONTENT_KEYS & event.keys():
            event[key] = f"<{len(str(event[key]))} characters>"
    return event


def redact_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Processor: values under names that mean a secret are masked at every level."""
    for key in event:
        if any(word in key.lower() for word in _SECRET_WORDS):
            event[key] = _HIDDEN
    return event


class JournalRenderer:
    """Processor: `key=value` lines with the syslog priority in front, as sd-daemon(3) has it: `journalctl -p` works."""

    def __init__(self) -> None:
        self._render = structlog.processors.KeyValueRenderer(key_order=["event"], drop_missing=True)

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> str:
        """Render one event; each of its lines gets the prefix."""
        prefix = f"<{_SYSLOG.get(method, 6)}>"
        return "\n".join(prefix + line for line in self._render(logger, method, event).splitlines())


def _renderers(form: str, out: TextIO) -> list[Processor]:
    if form == "json":
        return [structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.JSONRenderer()]
    if form == "journal":  # the journal keeps time and level itself
        return [JournalRenderer()]
    colours = out.isatty() and "NO_COLOR" not in os.environ
    return [structlog.processors.TimeStamper(fmt="%H:%M:%S"), structlog.dev.ConsoleRenderer(colors=colours)]


def _is_journal(named: str, stream: TextIO) -> bool:
    """JOURNAL_STREAM is `device:inode`; it is inherited, so it counts only if it names this stream."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return named == f"{found.st_dev}:{found.st_ino}"


class _ToStructlog(logging.Handler):
    """Hands lines of libraries on (grpc, asyncio), so that one stream has one form."""

    def emit(self, record: logging.LogRecord) -> None:
        name = record.levelname.lower()
        method = name if name in LEVELS else "error"
        logger = structlog.get_logger()
        getattr(logger, method)(record.getMessage(), logger=record.name, exc_info=record.exc_info or None)


def _adopt_standard_logging(minimum: LogLevel, level: str) -> None:
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, _ToStructlog):
            root.removeHandler(handler)
    root.addHandler(_ToStructlog())
    minimum.set(level)
