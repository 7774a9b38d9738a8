"""`python -m hydramind_daemon`."""

import os
import signal
import sys
from types import FrameType


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)  # told to stop before anything was begun


# The imports below take a good part of the start; `main` then puts the real handlers in place.
signal.signal(signal.SIGTERM, _leave)
signal.signal(signal.SIGINT, _leave)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)

# structlog would load it for tracebacks in colour; the daemon draws nothing, and it costs memory and much of the start.
sys.modules["rich"] = None  # type: ignore[assignment]

from hydramind_daemon.main import main  # noqa: E402 - see above

if __name__ == "__main__":
    sys.exit(main())
