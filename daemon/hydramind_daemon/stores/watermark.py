"""The last commit that was acknowledged, in a file beside the store.

Written after each commit and not synced: after a crash of the process it is exact, after a power cut it may be behind. When
the store opens with fewer commits than it says, those between are missing, and their numbers are never given again.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from hydramind_daemon.stores.files import FILE_MODE

_FORM: Final = re.compile(rb"(\d{20})\n")


class Watermark:
    """One number in a file. A file that cannot be written is not worth failing a commit for."""

    def __init__(self, path: Path) -> None:
        self._path = Path(f"{path}-sequence")
        self._descriptor = -1
        with suppress(OSError):
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE)

    def read(self) -> int:
        """The number; 0 when there is none."""
        if self._descriptor < 0:
            return 0
        match = _FORM.fullmatch(os.pread(self._descriptor, 64, 0))
        return int(match[1]) if match else 0

    def read_and_close(self) -> int:
        """The number, once."""
        try:
            return self.read()
        finally:
            self.close()

    def write(self, sequence: int) -> None:
        """Note an acknowledged commit."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.pwrite(self._descriptor, b"%020d\n" % sequence, 0)

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
