"""JSON schemas of tools, built from a few shapes that every MCP host is known to take.

One bad schema makes some hosts drop all tools, so the rules are in the builders: no `$ref`, no unions, no null, no
`format`, every property typed, inputs closed and outputs open. Limits are also said in words, because some hosts strip
bounds before the model sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Schema: TypeAlias = "dict[str, str | int | float | bool | list[str] | Schema | dict[str, Schema]]"
"""A schema: JSON values only."""

MAX_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly."""


def text(words: str, *, longest: int = 0, shortest: int = 0) -> Schema:
    """A string; `longest` and `shortest` count code points, 0 leaves them out."""
    schema: Schema = {"type": "string", "description": words}
    if shortest:
        schema["minLength"] = shortest
    if longest:
        schema["maxLength"] = longest
    return schema


def choice(words: str, values: tuple[str, ...]) -> Schema:
    """One of a few strings."""
    return {"type": "string", "description": words, "enum": list(values)}


def integer(words: str, *, least: int = 0, most: int = MAX_INTEGER) -> Schema:
    """A whole number within bounds."""
    return {"type": "integer", "description": words, "minimum": least, "maximum": most}


def number(words: str) -> Schema:
    """A number."""
    return {"type": "number", "description": words}


def flag(words: str) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": words}


def array(words: str, items: Schema, *, most: int = 0) -> Schema:
    """A list; `most` is its longest length, 0 leaves it out."""
    schema: Schema = {"type": "array", "description": words, "items": items}
    if most:
        schema["maxItems"] = most
    return schema


def closed(properties: Mapping[str, Schema], required: tuple[str, ...]) -> Schema:
    """An input: an object that takes these properties and no others."""
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


def record(properties: Mapping[str, Schema], required: tuple[str, ...] = (), words: str = "") -> Schema:
    """An output: an object that has at least `required`, and may gain properties in later versions."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if words:
        schema["description"] = words
    if required:
        schema["required"] = list(required)
    return schema
