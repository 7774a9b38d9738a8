"""Lines of an import file. Each is a JSON object: the fields of an import record, or a line that `export` wrote."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import IO

from hydramind_client.errors import InvalidArgument
from hydramind_client.model import ExportedMemory, ImportRecord

_ALIASES = {"id": "external_id", "memory_id": "external_id"}
_TEXTS = ("external_id", "content", "scope", "source", "valid_from", "valid_to", "created_at", "supersedes", "reason")
_LISTS = ("entities", "derived_from")
_NUMBERS_TOO = frozenset({"external_id", "valid_from", "valid_to", "created_at", "supersedes"})
_GIVEN_BY_EXPORT = frozenset(item.name for item in fields(ExportedMemory)) - {*_TEXTS, *_LISTS, "memory_id"}
_KNOWN = (*_TEXTS, *_LISTS, *_ALIASES)
_OUT = frozenset({"forgotten", "purged"})


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no record."""

    line: int
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """An exported memory that was forgotten or purged: importing it would bring it back."""

    line: int
    status: str


Line = ImportRecord | BadLine | SkippedLine


def read_lines(file: Iterable[bytes] | IO[bytes]) -> Iterator[Line]:
    """What each line of a file is; blank lines are left out."""
    for number, raw in enumerate(file, 1):
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901 - a byte order mark is no part of the line
        if raw.strip():
            try:
                yield parse(number, raw)
            except InvalidArgument as error:
                yield BadLine(number, error.message, error.field)


def parse(number: int, raw: bytes) -> ImportRecord | SkippedLine:
    """One line. Raises `InvalidArgument` that names the field."""
    try:
        found = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"not UTF-8 (byte {error.start})", reason="BAD_LINE") from None
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise InvalidArgument(f"not valid JSON: {where}", reason="BAD_LINE") from None
    if not isinstance(found, dict):
        raise InvalidArgument("a line must be a JSON object", reason="BAD_LINE")
    status = found.get("status")
    if isinstance(status, str) and status in _OUT:
        return SkippedLine(number, status)
    return _record(number, found)


def _record(number: int, found: Mapping[str, object]) -> ImportRecord:
    texts: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {"entities": (), "derived_from": ()}
    for key, value in found.items():
        name = _ALIASES.get(key, key)
        if name in _TEXTS:
            if name in texts:
                raise InvalidArgument.of(key, "the id is given twice under different names")
            texts[name] = _text(key, value, numbers=name in _NUMBERS_TOO)
        elif name in _LISTS:
            lists[name] = _names(key, value)
        elif key not in _GIVEN_BY_EXPORT:
            near = difflib.get_close_matches(key, _KNOWN, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(_KNOWN)}"
            raise InvalidArgument.of(key, f"is not a field{hint}")
    if "content" not in texts:
        raise InvalidArgument.of("content", "is missing")
    content = texts.pop("content")
    return ImportRecord(
        line=number,
        content=content,
        external_id=texts.get("external_id", ""),
        scope=texts.get("scope", ""),
        entities=lists["entities"],
        derived_from=lists["derived_from"],
        source=texts.get("source", ""),
        valid_from=texts.get("valid_from", ""),
        valid_to=texts.get("valid_to", ""),
        created_at=texts.get("created_at", ""),
        supersedes=texts.get("supersedes", ""),
        reason=texts.get("reason", ""),
    )


def _text(key: str, value: object, *, numbers: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if numbers and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise InvalidArgument.of(key, f"must be a string, not {type(value).__name__}")


def _names(key: str, value: object) -> tuple[str, ...]:
    """Strings, or the entities of an export: those that were found in the text will be found again."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidArgument.of(key, f"must be a list, not {type(value).__name__}")
    return tuple(name for item in value if (name := _name(key, item)) is not None)


def _name(key: str, item: object) -> str | None:
    if isinstance(item, str):
        return item
    if key == "entities" and isinstance(item, dict) and isinstance(item.get("name"), str):
        return None if item.get("from") == "extracted" else str(item["name"])
    raise InvalidArgument.of(key, "must hold strings")
