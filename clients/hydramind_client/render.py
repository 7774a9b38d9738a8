"""The one way in which an answer becomes JSON: names and order of the dataclass, UTC with Z, absent optionals left out."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json: TypeAlias = "str | int | float | bool | list[Json] | JsonObject"
"""A JSON value; null does not occur."""

JsonObject: TypeAlias = "dict[str, Json]"
"""A JSON object, keys in the order of the contract."""


def to_json(answer: object) -> JsonObject:
    """The dataclass `answer` as JSON-able values."""
    shown = cast("DataclassInstance", answer)
    found: JsonObject = {}
    for attribute, name in _names(type(shown)):
        value = getattr(shown, attribute)
        if value is not None:
            found[name] = _value(value)
    return found


def rfc3339(moment: datetime) -> str:
    """UTC with Z; fractions only when there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _value(value: object) -> Json:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, (tuple, list)):
        return [_value(item) for item in value]
    return to_json(value)


@cache
def _names(kind: type[DataclassInstance]) -> tuple[tuple[str, str], ...]:
    return tuple((item.name, str(item.metadata.get("json", item.name))) for item in fields(kind))
