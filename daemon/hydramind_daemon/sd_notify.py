"""Telling systemd what the daemon does: the datagram protocol of sd_notify(3), without libsystemd."""

import os
import socket
from collections.abc import Mapping

_USEC = 1_000_000


class Notifier:
    """Sends state changes to `$NOTIFY_SOCKET`; does nothing when that is unset.

    A send never blocks and never fails the daemon: a service manager that does not listen is its own problem.
    """

    def __init__(self, address: str = "", watchdog_usec: int = 0) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket: socket.socket | None = None
        self.watchdog_s: float | None = watchdog_usec / _USEC if watchdog_usec > 0 else None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Notifier":
        """Notifier of this process. WATCHDOG_USEC counts only when WATCHDOG_PID is absent or ours."""
        usec = environ.get("WATCHDOG_USEC", "")
        mine = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        return cls(environ.get("NOTIFY_SOCKET", ""), int(usec) if usec.isdigit() and mine else 0)

    @property
    def active(self) -> bool:
        """Somebody asked to be notified."""
        return bool(self._address)

    def ready(self, status: str) -> None:
        """The daemon answers calls."""
        self._send(f"READY=1\nSTATUS={_line(status)}\nMAINPID={os.getpid()}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={_line(text)}")

    def stopping(self, status: str) -> None:
        """The daemon has begun to stop."""
        self._send(f"STOPPING=1\nSTATUS={_line(status)}")

    def watchdog(self) -> None:
        """Loop and store were just seen to work."""
        self._send("WATCHDOG=1")

    def extend_timeout(self, seconds: float) -> None:
        """Start or stop takes longer: the manager waits at least `seconds` more."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _USEC)}")

    def reloading(self, monotonic_ns: int) -> None:
        """The configuration is being read again; `ready` ends it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={monotonic_ns // 1000}")

    def close(self) -> None:
        """Close the datagram socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, message: str) -> None:
        if not self._address:
            return
        try:
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0))
                self._socket.settimeout(0.0)
            self._socket.sendto(message.encode(), self._address)
        except OSError:
            self.close()


def _line(text: str) -> str:
    # A line break would start another assignment.
    return " ".join(text.split())
