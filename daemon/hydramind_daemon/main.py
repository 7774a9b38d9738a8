"""The daemon's entry: arguments, settings, lock and event loop; every way it can end has its exit code.

What is slow to import (gRPC, the store) is imported after the signals are caught and the lock is held: a second daemon
gives up in the time of a bare interpreter.
"""

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import structlog

from hydramind import local
from hydramind import settings as st
from hydramind_daemon import logs
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.lifecycle_signals import Signals
from hydramind_daemon.lifecycle_start import Readiness, clear_stale_socket, prepare_home, take_instance_lock
from hydramind_daemon.sd_notify import Notifier

_FLAG_SETTINGS = ("home", "socket", "config", "daemon.idle_exit_s", "daemon.drain_s", "log.level", "log.format")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(ExitCode.USAGE, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    """Command line of the daemon; values are checked where all settings are, by `hydramind.settings`."""
    made = _Parser(prog="hydramind-daemon", description="The coordinated writer of HydraMind.", allow_abbrev=False)
    for name in _FLAG_SETTINGS:
        spec = st.SPECS[name]
        made.add_argument(spec.flag, dest=name, metavar="VALUE", help=f"{spec.help} ({spec.allowed()})")
    made.add_argument("--managed", action="store_true", help="Started by a unit or by hand: never stops when idle.")
    made.add_argument("--readiness-fd", type=int, metavar="N", help="Descriptor to write READY or BUSY and the pid to.")
    made.add_argument("--version", action="version", version=f"hydramind {local.version()}")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the daemon until it is told to stop; answers the exit code."""
    signals = Signals()
    signals.install()
    os.umask(0o077)  # the socket and the store are for this user only
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    # Caches of claims and words live long and hold no cycles: looking at them often costs about 5 % of a write.
    gc.set_threshold(50_000, 50, 100)
    given = vars(parser().parse_args(argv))
    readiness = Readiness(given["readiness_fd"])
    try:
        return _run({name: given[name] for name in _FLAG_SETTINGS}, bool(given["managed"]), readiness, signals)
    except DaemonExit as end:
        _say(end.message, end.code)
        return end.code
    except st.SettingsError as error:
        _say(str(error), ExitCode.CONFIGURATION)
        return ExitCode.CONFIGURATION
    except Exception:  # noqa: BLE001 - the root: a fault must end in the log and in an exit code
        structlog.get_logger().exception("the daemon failed", exit_code=int(ExitCode.FAILURE))
        return ExitCode.FAILURE
    finally:
        readiness.close()


def _run(flags: dict[str, st.Value], managed: bool, readiness: Readiness, signals: Signals) -> int:
    settings = st.load(flags)
    level = logs.configure(settings.log.level, settings.log.format, os.environ)
    for warning in settings.warnings:
        structlog.get_logger().warning("unknown variable", detail=warning)
    st.refuse_missing_record(settings)
    where = local.addresses(home=settings.place.home, socket=settings.place.socket)
    prepare_home(where)
    with take_instance_lock(where, readiness) as lock:
        clear_stale_socket(where.socket)
        from hydramind_daemon.app import run_daemon

        def reread() -> st.Settings:
            new = st.load(flags)
            st.refuse_missing_record(new)
            return new

        runner = asyncio.Runner(loop_factory=_loop_factory(settings.daemon.event_loop))
        with runner:
            return runner.run(
                run_daemon(
                    where,
                    settings,
                    managed=managed,
                    lock=lock,
                    readiness=readiness,
                    signals=signals,
                    notifier=Notifier.from_environ(os.environ),
                    reread=reread,
                    level=level,
                )
            )


def _loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    if name == "asyncio":
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop


def _say(message: str, code: ExitCode) -> None:
    """Last words: a log line, or plain text while logs are not set up (wrong settings)."""
    if structlog.is_configured():
        structlog.get_logger().error(message, exit_code=int(code))
    else:
        sys.stderr.write(f"hydramind-daemon: {message} (exit {int(code)})\n")
