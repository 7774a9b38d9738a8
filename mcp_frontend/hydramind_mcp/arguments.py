"""Checks a tool call's arguments against its input schema, and says what to write instead.

The SDK hands arguments over unchecked, and hosts strip bounds and patterns from what the model sees. So everything that
the schema says is enforced here, and each error names the field.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from hydramind_client.scope import ScopeRef
from hydramind_mcp.schema import Schema

_DEFAULT = ScopeRef()
_WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


class BadArguments(ValueError):
    """The arguments do not fit. The message names the field and says what to do."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Checked arguments of one call; what the caller left out has its empty value."""

    values: Mapping[str, object]
    session_scope: ScopeRef = _DEFAULT

    @property
    def scope(self) -> str | ScopeRef:
        """The scope that the call names, else the session's own."""
        return self.text("scope") or self.session_scope

    def text(self, name: str) -> str:
        """A string argument, empty when absent."""
        value = self.values.get(name, "")
        assert isinstance(value, str)
        return value

    def optional(self, name: str) -> str | None:
        """A string argument, `None` when absent or empty."""
        return self.text(name) or None

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty when absent."""
        value = self.values.get(name, [])
        assert isinstance(value, list)
        return tuple(str(item) for item in value)

    def integer(self, name: str) -> int | None:
        """A whole number, `None` when absent."""
        value = self.values.get(name)
        assert value is None or isinstance(value, int)
        return value


def check(schema: Schema, given: object, session_scope: ScopeRef = _DEFAULT) -> Arguments:
    """The arguments in `given`; raises `BadArguments`.

    A null stands for an absent optional argument: some hosts send every argument that a tool has.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise BadArguments("arguments: must be an object")
    properties = schema["properties"]
    required = schema["required"]
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    for name in given:
        if name not in properties:
            raise BadArguments(_unknown(str(name), tuple(properties)))
    values = {name: value for name, value in given.items() if value is not None or name in required}
    for name in required:
        if name not in values:
            raise BadArguments(f"{name}: is required and missing")
    for name, value in values.items():
        rule = properties[name]
        assert isinstance(rule, dict)
        _check_value(name, rule, value)
    return Arguments(values, session_scope)


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{name}: is not an argument of this tool; {hint}It takes: {', '.join(known)}"


def _check_value(name: str, rule: Mapping[str, object], value: object) -> None:
    kind = str(rule["type"])
    if not _is_kind(kind, value):
        raise BadArguments(f"{name}: must be {_WORDS[kind]}, and was {_describe(value)}")
    if isinstance(value, str):
        _check_text(name, rule, value)
    elif isinstance(value, list):
        _check_list(name, rule, value)
    elif isinstance(value, int) and not isinstance(value, bool):
        _check_integer(name, rule, value)


def _is_kind(kind: str, value: object) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int)
        case "number":
            return isinstance(value, (int, float))
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, Mapping) and kind == "object"


def _describe(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the string {value[:40]!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "an object"


def _check_text(name: str, rule: Mapping[str, object], value: str) -> None:
    choices = rule.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadArguments(f"{name}: must be one of {', '.join(map(str, choices))}, and was {value[:40]!r}")
    longest, shortest = rule.get("maxLength"), rule.get("minLength")
    if isinstance(longest, int) and len(value) > longest:
        raise BadArguments(f"{name}: is {len(value):,} characters long; at most {longest:,} are allowed")
    if isinstance(shortest, int) and len(value.strip()) < shortest:
        raise BadArguments(f"{name}: must not be blank")


def _check_list(name: str, rule: Mapping[str, object], value: list[object]) -> None:
    most = rule.get("maxItems")
    if isinstance(most, int) and len(value) > most:
        raise BadArguments(f"{name}: has {len(value):,} elements; at most {most:,} are allowed")
    items = rule["items"]
    assert isinstance(items, dict)
    for position, item in enumerate(value):
        _check_value(f"{name}[{position}]", items, item)


def _check_integer(name: str, rule: Mapping[str, object], value: int) -> None:
    least, most = rule.get("minimum"), rule.get("maximum")
    if isinstance(least, int) and value < least:
        raise BadArguments(f"{name}: must be at least {least:,}, and was {value}")
    if isinstance(most, int) and value > most:
        raise BadArguments(f"{name}: must be at most {most:,}, and was {value}")
