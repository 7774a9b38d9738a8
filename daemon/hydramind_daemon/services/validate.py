"""Limits of requests, as the contract's field comments name them. Every refusal names the field."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from hydramind_domain.entities import normalise_entity
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Instant
from hydramind_domain.text import is_blank
from hydramind_domain.timeparse import parse

CONTENT_BYTES: Final = 1 << 20
QUERY_BYTES: Final = 8 << 10
NAME_CHARS: Final = 256
SHORT_CHARS: Final = 1_024
MANY: Final = 64
PURGED_AT_ONCE: Final = 1_000


def _bytes_over(text: str, limit: int) -> bool:
    return len(text) > limit or (4 * len(text) > limit and len(text.encode("utf-8", "surrogatepass")) > limit)


def content(text: str, field: str = "content") -> str:
    """A claim: 1 byte to 1 MiB, something to see, no NUL."""
    if is_blank(text):
        raise InvalidArgument.of(field, "is blank; give the claim as text", reason="BLANK")
    if "\0" in text:
        raise InvalidArgument.of(field, "contains a NUL character; remove it", reason="NUL_CHARACTER")
    if _bytes_over(text, CONTENT_BYTES):
        raise InvalidArgument.of(field, "is longer than 1 MiB of UTF-8; split it", reason="TOO_LONG")
    return text


def query(text: str) -> str:
    """A question: any string up to 8 KiB."""
    if _bytes_over(text, QUERY_BYTES):
        raise InvalidArgument.of("query", "is longer than 8 KiB of UTF-8; shorten it", reason="TOO_LONG")
    return text


def name(text: str, field: str) -> str:
    """The name of a scope or entity: NFC, trimmed, 1 to 256 characters, no NUL."""
    trimmed = unicodedata.normalize("NFC", text).strip()
    if is_blank(trimmed):
        raise InvalidArgument.of(field, "is blank; give a name of 1 to 256 characters", reason="BLANK")
    if "\0" in trimmed:
        raise InvalidArgument.of(field, "contains a NUL character; remove it", reason="NUL_CHARACTER")
    if len(trimmed) > NAME_CHARS:
        raise InvalidArgument.of(field, f"has {len(trimmed)} characters; at most {NAME_CHARS} are allowed", reason="TOO_LONG")
    return trimmed


def names(given: Iterable[str], field: str) -> tuple[str, ...]:
    """At most 64 names of entities, distinct by their normal form, in order; the first spelling counts."""
    found: dict[str, str] = {}
    for position, text in enumerate(given):
        if position >= MANY:
            raise InvalidArgument.of(field, f"has more than {MANY} entries", reason="TOO_MANY")
        one = name(text, field)
        found.setdefault(normalise_entity(one), one)
    return tuple(found.values())


def memory_id(text: str, field: str = "memory_id") -> str:
    """An id as answered before: not blank, at most 256 characters."""
    trimmed = text.strip()
    if is_blank(trimmed):
        raise InvalidArgument.of(field, "is blank; give the id of a memory", reason="BLANK")
    if len(trimmed) > NAME_CHARS or "\0" in trimmed:
        raise InvalidArgument.of(field, "is not an id that was ever given", reason="INVALID_ID")
    return trimmed


def memory_ids(given: Sequence[str], field: str, most: int = MANY) -> tuple[str, ...]:
    """Ids, distinct, in order."""
    if len(given) > most:
        raise InvalidArgument.of(field, f"has {len(given)} entries; at most {most} are allowed", reason="TOO_MANY")
    return tuple(dict.fromkeys(memory_id(one, field) for one in given))


def short(text: str, field: str, *, required: bool = False) -> str:
    """Free text of at most 1,024 characters: a source or a reason."""
    if required and is_blank(text):
        raise InvalidArgument.of(field, "is blank; say why", reason="BLANK")
    if len(text) > SHORT_CHARS:
        raise InvalidArgument.of(field, f"has {len(text)} characters; at most {SHORT_CHARS} are allowed", reason="TOO_LONG")
    if "\0" in text:
        raise InvalidArgument.of(field, "contains a NUL character; remove it", reason="NUL_CHARACTER")
    return text


def key(text: str) -> str:
    """An idempotency key of at most 256 characters; empty: none."""
    if len(text) > NAME_CHARS:
        problem = f"has {len(text)} characters; at most {NAME_CHARS} are allowed"
        raise InvalidArgument.of("idempotency_key", problem, reason="TOO_LONG")
    return text


def time(text: str, field: str) -> Instant | None:
    """A time when something begins or ends; empty: None."""
    return parse(text, field) if text.strip() else None


def as_of(text: str) -> Instant | None:
    """A valid time to look at; a bare date is its last instant; empty: None."""
    return parse(text, "as_of", end_of_day=True) if text.strip() else None


def number(given: int, field: str, default: int, most: int) -> int:
    """A count from 1 to `most`; 0 is the default."""
    if given == 0:
        return default
    if not 1 <= given <= most:
        raise InvalidArgument.of(field, f"is {given}; give 1 to {most}, or 0 for {default}", reason="OUT_OF_RANGE")
    return given
