"""How the shell writes: plain lines when piped, colour and signs on a terminal, JSON when asked.

Colour only repeats what words and signs say. Content is data: control characters in it never reach a terminal as such.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from hydramind_client.model import Answer, Status
from hydramind_client.render import JsonObject, rfc3339

Part = str | tuple[str, str]
"""A piece of a line: text, or text with a style (colour names, `bold`, `dim`, joined by a space)."""

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_BAR = 10
_UNSEEN = 0.005
_PLAIN = str.maketrans(
    {"→": "->", "←": "<-", "−": "-", "×": "x", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-"}
)
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MAX_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs that lines are drawn with."""

    tee: str
    corner: str
    pipe: str
    arrow: str
    back: str
    down: str
    up: str
    minus: str
    dot: str
    ok: str
    bad: str
    cut: str
    full: str
    empty: str
    rule: str
    times: str
    dash: str
    statuses: Mapping[Status, str]


UNICODE = Signs(
    tee="├─ ", corner="└─ ", pipe="│  ", arrow="→", back="←", down="▼", up="▲", minus="−", dot="·", ok="✓", bad="✗", cut="…",
    full="█", empty="░", rule="─", times="×", dash="—",
    statuses={
        Status.ACTIVE: "●", Status.CONTRADICTED: "◐", Status.SUPERSEDED: "○", Status.FORGOTTEN: "✗", Status.PURGED: "∅",
    },
)  # fmt: skip
ASCII = Signs(
    tee="|- ", corner="`- ", pipe="|  ", arrow="->", back="<-", down="v", up="^", minus="-", dot="-", ok="ok", bad="x", cut="...",
    full="#", empty=".", rule="-", times="x", dash="-",
    statuses={
        Status.ACTIVE: "*", Status.CONTRADICTED: "!", Status.SUPERSEDED: "o", Status.FORGOTTEN: "x", Status.PURGED: "0",
    },
)  # fmt: skip


def speaks_unicode(environ: Mapping[str, str], encoding: str) -> bool:
    """Whether signs beyond ASCII may be written. LANG=C says no, although Python itself would write UTF-8 there."""
    named = environ.get("LC_ALL") or environ.get("LANG") or ""
    if named and "utf" not in named.lower():
        return False
    return encoding.lower().replace("-", "").startswith("utf")


def wants_colour(environ: Mapping[str, str], *, terminal: bool) -> bool:
    """NO_COLOR wins over everything, FORCE_COLOR over the terminal's absence."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return terminal and environ.get("TERM", "") != "dumb"


def clean(text: str) -> str:
    """Content as one may show it: control characters as visible escapes, line ends and tabs kept."""
    return "".join(c if _harmless(c) else f"\\x{ord(c):02x}" for c in text)


def _harmless(character: str) -> bool:
    return character in "\n\t" or (unicodedata.category(character) not in {"Cc", "Cs"} and character not in _REORDERING)


def one_line(text: str, limit: int = 0, cut: str = "…") -> str:
    """Content on one line, shortened to `limit` columns (0: whole)."""
    flat = " ".join(clean(text).split())
    if not limit or columns(flat) <= limit:
        return flat
    while flat and columns(flat) > limit - columns(cut):
        flat = flat[:-1]
    return flat.rstrip() + cut


def columns(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(_columns_of(c) for c in text)


def _columns_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


class Output:
    """Where a command writes to."""

    def __init__(self, *, as_json: bool = False, stream: IO[str] | None = None, environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        self.stream: IO[str] = sys.stdout if stream is None else stream
        self.terminal = self.stream.isatty()
        self.as_json = as_json
        self.unicode = speaks_unicode(env, getattr(self.stream, "encoding", None) or "utf-8")
        self.colour = wants_colour(env, terminal=self.terminal)
        self.signs = UNICODE if self.unicode else ASCII
        self.width = min(shutil.get_terminal_size().columns, _MAX_WIDTH) if self.terminal else 0

    # -- lines

    def line(self, *parts: Part) -> None:
        """Write one line."""
        self.stream.write("".join(self._styled(part) for part in parts).rstrip() + "\n")

    def _styled(self, part: Part) -> str:
        text, style = part if isinstance(part, tuple) else (part, "")
        if not self.colour or not style or not text:
            return text
        codes = ";".join(_STYLES[name] for name in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"

    def paragraph(self, text: str, indent: str = "", style: str = "") -> None:
        """Write a text, wrapped on a terminal only: a pipe gets it as it is."""
        for row in clean(text).split("\n"):
            width = max(20, self.width - len(indent))
            pieces = textwrap.wrap(row, width, break_long_words=False, break_on_hyphens=False) if self.width else [row]
            for piece in pieces or [""]:
                self.line(indent, (piece, style))

    def title(self, text: str) -> None:
        """Write a heading."""
        self.line((text, "bold"))

    def rule(self, text: str) -> None:
        """Write a heading with a line across."""
        width = self.width or 78
        tail = self.signs.rule * max(3, width - columns(text) - 4)
        self.line((f"{self.signs.rule * 2} ", "dim"), (text, "bold cyan"), (f" {tail}", "dim"))

    def note(self, text: str) -> None:
        """Write something beside the answer, to stderr, so that a pipe stays clean."""
        sys.stderr.write(text + "\n")

    # -- pieces

    def trust(self, score: float) -> Part:
        """A trust as a number."""
        return f"{score:.2f}", _trust_style(score)

    def bar(self, score: float) -> Part:
        """A trust as a bar."""
        filled = round(score * _BAR)
        return self.signs.full * filled + self.signs.empty * (_BAR - filled), _trust_style(score)

    def change(self, before: float, after: float, *, bar: bool = True, number: bool = True) -> tuple[Part, ...]:
        """A trust that moved: `1.00 → 0.60 ██████░░░░ ▼ −0.40`; for narrow places without the bar, or with the sign only."""
        signs = self.signs
        if abs(after - before) < _UNSEEN:
            return (self.trust(after), *((" ", self.bar(after)) if bar else ()))
        mark, style = self.delta(before, after)
        drawn: tuple[Part, ...] = (" ", self.bar(after)) if bar else ()
        return self.trust(before), f" {signs.arrow} ", self.trust(after), *drawn, " ", (mark if number else mark[:1], style)

    def delta(self, before: float, after: float) -> tuple[str, str]:
        """How far a trust moved: `▼ −0.40`; empty when it did not."""
        moved = after - before
        if abs(moved) < _UNSEEN:
            return "", ""
        if moved < 0:
            return f"{self.signs.down} {self.signs.minus}{-moved:.2f}", "red"
        return f"{self.signs.up} +{moved:.2f}", "green"

    def words(self, text: str) -> str:
        """Words of the daemon: cleaned, and without the signs that this terminal does not speak."""
        shown = clean(text)
        return shown if self.unicode else shown.translate(_PLAIN)

    def status(self, status: Status) -> Part:
        """A status as sign and word."""
        style = {Status.ACTIVE: "green", Status.CONTRADICTED: "yellow"}.get(status, "dim")
        return f"{self.signs.statuses[status]} {status.value}", style

    def shorten(self, text: str, limit: int) -> str:
        """Content on one line; on a terminal no longer than `limit` columns."""
        return one_line(text, limit if self.width else 0, self.signs.cut)

    # -- whole answers

    def json(self, value: Answer | JsonObject | Sequence[JsonObject]) -> None:
        """Write one JSON document: indented on a terminal, on one line elsewhere."""
        shown = value.to_json() if isinstance(value, Answer) else value
        text = json.dumps(shown, ensure_ascii=not self.unicode, indent=2 if self.terminal else None)
        self.stream.write(text + "\n")

    def json_line(self, value: Answer | JsonObject) -> None:
        """Write one line of JSON Lines."""
        shown = value.to_json() if isinstance(value, Answer) else value
        self.stream.write(json.dumps(shown, ensure_ascii=not self.unicode) + "\n")

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[Part]]) -> None:
        """Write rows in columns; the last column is shortened to a terminal's width, never in a pipe."""
        texts = [[text_of(cell) for cell in row] for row in rows]
        widths = [max([columns(head), *(columns(row[i]) for row in texts)]) for i, head in enumerate(heads)]
        last = len(heads) - 1
        self.line(*((head if i == last else f"{head:<{widths[i]}}  ", "dim") for i, head in enumerate(heads)))
        room = self.width - sum(widths[:-1]) - 2 * (len(heads) - 1) if self.width else 0
        for row in rows:
            self.line(*self._cells(row, widths, room))

    def _cells(self, row: Sequence[Part], widths: Sequence[int], room: int) -> list[Part]:
        parts: list[Part] = []
        for i, cell in enumerate(row):
            text, style = cell if isinstance(cell, tuple) else (cell, "")
            if i == len(row) - 1:
                parts.append((one_line(text, max(room, 12) if room else 0, self.signs.cut), style))
            else:
                parts += [(text, style), " " * (widths[i] - columns(text) + 2)]
        return parts


def text_of(part: Part) -> str:
    """A piece without its style."""
    return part[0] if isinstance(part, tuple) else part


def _trust_style(score: float) -> str:
    return "green" if score >= 0.9 else "yellow" if score >= 0.5 else "red"


def day(moment: datetime | None) -> str:
    """The UTC day of a moment."""
    return moment.date().isoformat() if moment else ""


def minute(moment: datetime | None) -> str:
    """A moment to the second, in UTC."""
    return rfc3339(moment.replace(microsecond=0)).replace("T", " ") if moment else ""


def count(number: int, one: str, many: str = "") -> str:
    """A number with its word: `1 memory`, `2 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(size_bytes: int) -> str:
    """Bytes for people."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def duration(seconds: int) -> str:
    """A span of time for people."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [f"{days} d" if days else "", f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{rest} s"]
    return " ".join([part for part in parts if part][:2])
