"""Typed values in a text: numbers with units, dates, times of day, versions, ordinals and network addresses.

Each value carries canonical keys, so that equal values written in other units or formats are equal (90 min and 1.5 h,
3.3k and 3300, 2026-03-01 and "1 March 2026") while look-alikes are not (1 GiB and 1 GB, versions 1.1 and 1.10).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

_MAX_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class Value:
    """One typed value.

    `kind` is number, date, clock, version, ordinal or address; `dimension` tells numbers of unlike measure apart
    ("" for a bare count, "time", "bytes", "money:usd", "bytes/time" …); `keys` holds every canonical reading (more
    than one only where the notation is ambiguous, as 03/01/2026 is); `start` and `end` are code points in the text.
    """

    kind: str
    dimension: str
    keys: tuple[str, ...]
    surface: str
    start: int
    end: int


# unit -> (dimension, factor to the base unit). Case matters where SI says so; a lower-cased look-up comes second.
_UNITS: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), ("time", 1e-9)),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), ("time", 1e-6)),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), ("time", 1e-3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days"), ("time", 86400.0)),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), ("time", 604800.0)),
    # Calendar months and years have no fixed length in seconds; twelve of the one are one of the other.
    **dict.fromkeys(("month", "months"), ("calendar", 1.0)),
    **dict.fromkeys(("year", "years", "yr", "yrs"), ("calendar", 12.0)),
    **dict.fromkeys(("B", "byte", "bytes"), ("bytes", 1.0)),
    **dict.fromkeys(("kB", "KB", "kilobyte", "kilobytes"), ("bytes", 1e3)),
    **dict.fromkeys(("MB", "megabyte", "megabytes"), ("bytes", 1e6)),
    **dict.fromkeys(("GB", "gigabyte", "gigabytes"), ("bytes", 1e9)),
    **dict.fromkeys(("TB", "terabyte", "terabytes"), ("bytes", 1e12)),
    **dict.fromkeys(("PB", "petabyte", "petabytes"), ("bytes", 1e15)),
    **dict.fromkeys(("KiB", "kibibyte", "kibibytes"), ("bytes", 2.0**10)),
    **dict.fromkeys(("MiB", "mebibyte", "mebibytes"), ("bytes", 2.0**20)),
    **dict.fromkeys(("GiB", "gibibyte", "gibibytes"), ("bytes", 2.0**30)),
    **dict.fromkeys(("TiB", "tebibyte", "tebibytes"), ("bytes", 2.0**40)),
    **dict.fromkeys(("b", "bit", "bits"), ("bits", 1.0)),
    **dict.fromkeys(("kb", "Kb", "kbit", "Kbit"), ("bits", 1e3)),
    **dict.fromkeys(("Mb", "Mbit", "megabit", "megabits"), ("bits", 1e6)),
    **dict.fromkeys(("Gb", "Gbit", "gigabit", "gigabits"), ("bits", 1e9)),
    "kbps": ("bits/time", 1e3),
    "mbps": ("bits/time", 1e6),
    "gbps": ("bits/time", 1e9),
    **dict.fromkeys(("rps", "qps", "tps"), ("requests/time", 1.0)),
    "Hz": ("hertz", 1.0),
    "kHz": ("hertz", 1e3),
    "MHz": ("hertz", 1e6),
    "GHz": ("hertz", 1e9),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), ("length", 1e-3)),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), ("length", 1e-2)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("length", 1.0)),
    **dict.fromkeys(("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"), ("length", 1e3)),
    **dict.fromkeys(("mile", "miles", "mi"), ("length", 1609.344)),
    **dict.fromkeys(("ft", "foot", "feet"), ("length", 0.3048)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("mass", 1e-6)),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", 1e-3)),
    **dict.fromkeys(("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"), ("mass", 1.0)),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), ("mass", 0.45359237)),
    **dict.fromkeys(("l", "L", "litre", "litres", "liter", "liters"), ("volume", 1.0)),
    "ml": ("volume", 1e-3),
    **dict.fromkeys(("W", "watt", "watts"), ("power", 1.0)),
    "kW": ("power", 1e3),
    "MW": ("power", 1e6),
    "mV": ("voltage", 1e-3),
    **dict.fromkeys(("V", "volt", "volts"), ("voltage", 1.0)),
    **dict.fromkeys(("px", "pixel", "pixels"), ("pixels", 1.0)),
    **dict.fromkeys(("%", "percent", "pct"), ("percent", 1.0)),
    **dict.fromkeys(("°C", "celsius"), ("temperature", 1.0)),
    **dict.fromkeys(("°F", "fahrenheit"), ("temperature:f", 1.0)),
    **dict.fromkeys(("usd", "dollar", "dollars", "bucks"), ("money:usd", 1.0)),
    **dict.fromkeys(("eur", "euro", "euros"), ("money:eur", 1.0)),
    **dict.fromkeys(("gbp",), ("money:gbp", 1.0)),
    **dict.fromkeys(("cent", "cents"), ("money:usd", 0.01)),
}
_LOWER_UNITS: Final = {unit.lower(): value for unit, value in reversed(_UNITS.items())}
_CASED: Final = frozenset({"b", "kb", "mb", "gb", "m", "w", "v", "mw", "l", "s", "h", "d", "g"})
_SYMBOLS: Final = {"$": "money:usd", "€": "money:eur", "£": "money:gbp", "¥": "money:jpy"}
_PER: Final = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0}
_CALENDAR_PER: Final = {"day": "day", "d": "day", "week": "week", "month": "month", "mo": "month", "year": "year", "yr": "year"}
_COUNTED: Final = {
    **dict.fromkeys(("req", "reqs", "request", "requests"), "requests"),
    **dict.fromkeys(("op", "ops", "operation", "operations"), "operations"),
    **dict.fromkeys(("query", "queries"), "queries"),
    **dict.fromkeys(("call", "calls"), "calls"),
    **dict.fromkeys(("msg", "msgs", "message", "messages", "event", "events"), "messages"),
    **dict.fromkeys(("row", "rows", "record", "records"), "records"),
    **dict.fromkeys(("write", "writes"), "writes"),
    **dict.fromkeys(("read", "reads"), "reads"),
    **dict.fromkeys(("token", "tokens"), "tokens"),
    **dict.fromkeys(("time", "times"), "times"),
}
_MULTIPLIERS: Final = {
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "bn": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9, "hundred": 1e2,
    "dozen": 12.0, "trillion": 1e12, "mn": 1e6, "mio": 1e6,
}  # fmt: skip
_CARDINALS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12,
}  # fmt: skip
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40,
    "fiftieth": 50, "hundredth": 100,
}  # fmt: skip
_MONTHS: Final = {
    name[:length]: index
    for index, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
         "december"), 1)
    for length in (3, len(name), 4 if name == "september" else 3)
}  # fmt: skip

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBER: Final = r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_TENS: Final = "|".join(sorted((w for w in _CARDINALS if w != "zero"), key=len, reverse=True))
_UNIT_WORDS: Final = "|".join(
    re.escape(unit) for unit in sorted({*_UNITS, *(u.lower() for u in _UNITS), *_COUNTED}, key=len, reverse=True)
)

_DATE_RE: Final = re.compile(
    rf"""(?<![\w.#-])(?:
      (?P<iso>(?P<y>\d{{4}})-(?P<m>\d{{2}})-(?P<d>\d{{2}})
        (?:[T\ ](?P<clock>\d{{2}}:\d{{2}})(?::\d{{2}}(?:\.\d+)?)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?)
    | (?P<dmy>(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?\ (?P<m2>{_MONTH})\b\.?(?:,?\ (?P<y2>\d{{4}}))?)
    | (?P<mdy>(?P<m3>{_MONTH})\b\.?\ (?P<d3>\d{{1,2}})(?!\d|:|\.\d)(?:st|nd|rd|th)?(?:,?\ (?P<y3>\d{{4}}))?)
    | (?P<my>(?P<m4>{_MONTH})\b,?\ (?P<y4>\d{{4}}))
    | (?P<slash>(?P<a>\d{{1,2}})[/.](?P<b>\d{{1,2}})[/.](?P<y5>\d{{4}}))
    | (?P<ymd>(?P<y7>\d{{4}})/(?P<m7>\d{{2}})/(?P<d7>\d{{2}}))
    | (?P<quarter>[Qq](?P<q>[1-4])(?:[\ -](?P<y6>\d{{4}}))?)
    )(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
_OTHER_RE: Final = re.compile(
    rf"""(?<![\w#/])(?<![A-Za-z]-)(?:
      (?P<address>\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\.?\d))
    | (?P<version>v\d+(?:\.\d+)*(?:-?(?:alpha|beta|rc|dev|post)\.?\d*)?
        |\d+\.\d+\.\d+(?:\.\d+)*(?:-?(?:alpha|beta|rc|dev|post)\.?\d*)?
        |\d+\.x)(?![\w.]*\w)
    | (?P<clock>\d{{1,2}}(?::\d{{2}})?\ ?(?:[ap]\.?m\b\.?)|[0-2]?\d:[0-5]\d(?::[0-5]\d)?(?!\d))
    | (?P<ordinal>\d+(?:st|nd|rd|th)\b)
    | (?P<range>(?:{_NUMBER})\ ?(?:-|–|to)\ ?(?:{_NUMBER})(?![\w-]))
    | (?P<money>[$€£¥]\ ?)?(?P<number>(?<!\d\.)-?(?:{_NUMBER})|\b(?:{_TENS})(?:[-\ ](?:{_TENS}))*\b)
        (?P<mult>(?-i:[kKMG])(?![\w])|\ ?(?:bn|mn|thousand|million|billion|trillion|hundred|dozen)\b)?
        (?:[\ -]?(?P<unit>{_UNIT_WORDS})(?![\w°]))?
        (?:(?:\ ?/\ ?|\ per\ |\ an?\ )(?P<per>s|sec|second|min|minute|h|hr|hour|d|day|week|mo|month|yr|year)\b)?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD_ORDINAL: Final = re.compile(
    r"\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?(" + "|".join(_ORDINALS) + r")\b", re.IGNORECASE
)
# Where a value can begin: at a digit (with its sign or currency), or at one of a few words.
_PIECE: Final = re.compile(r"[A-Za-z]+|[$€£¥] ?\d|-?\d")
_DIGIT: Final = re.compile(r"\d")
_LETTERS: Final = re.compile(r"[a-z]+")
_STARTERS: Final = frozenset({*_CARDINALS, *_ORDINALS, *_MONTHS, "v", "q"})


@lru_cache(maxsize=4096)
def find_values(text: str) -> tuple[Value, ...]:
    """Every typed value in `text`, in order and without overlap, at most 64."""
    if text.isascii() and not _DIGIT.search(text) and _STARTERS.isdisjoint(_LETTERS.findall(text.lower())):
        return ()
    found: list[Value] = []
    end = 0
    for piece in _PIECE.finditer(text):
        start = piece.start()
        if start < end or (piece[0].isalpha() and piece[0].lower() not in _STARTERS):
            continue
        value = _value_at(text, start)
        if value is not None:
            found.append(value)
            end = value.end
            if len(found) == _MAX_VALUES:
                break
    return tuple(found)


def _value_at(text: str, start: int) -> Value | None:
    """The value that begins at `start`: a date before an ordinal before anything else."""
    match = _DATE_RE.match(text, start)
    value = _date(match) if match is not None else None
    if value is None:
        match = _WORD_ORDINAL.match(text, start)
        value = _word_ordinal(match, text) if match is not None else None
    if value is None:
        match = _OTHER_RE.match(text, start)
        value = _other(match, text) if match is not None else None
    return value


def differ(one: Value, two: Value) -> bool | None:
    """True: the values cannot both hold. False: they are equal or compatible. None: they are not comparable."""
    if one.kind != two.kind:
        return _versions_differ(one, two) if {one.kind, two.kind} == {"version", "number"} else None
    if one.dimension != two.dimension:
        return None
    if one.kind == "date":
        return not any(_dates_meet(a, b) for a in one.keys for b in two.keys)
    return not set(one.keys) & set(two.keys)


def _versions_differ(one: Value, two: Value) -> bool | None:
    number = one if one.kind == "number" else two
    if number.dimension or not re.fullmatch(r"\d+(?:\.\d+)?", number.surface):
        return None
    readings = {version_key(value.surface) for value in (one, two)}
    return len(readings) > 1


def _dates_meet(one: str, two: str) -> bool:
    """Whether two date readings can name one date: a missing year, day or time of day is open, not different."""
    return all(not (a and b and a != b) for a, b in zip(one.split("|"), two.split("|"), strict=True))


def _date_key(year: str | None, month: str | int, day: str | int, clock: str = "") -> str | None:
    if not (1 <= int(month) <= 12 and (day == "" or 1 <= int(day) <= 31)):
        return None
    return f"{year or ''}|{int(month)}|{int(day) if day != '' else ''}|{clock}"


def _date(match: re.Match[str]) -> Value | None:
    part = match.groupdict()
    keys: list[str | None] = []
    if part["iso"]:
        keys = [_date_key(part["y"], part["m"], part["d"], part["clock"] or "")]
    elif part["dmy"]:
        keys = [_date_key(part["y2"], _month(part["m2"]), part["d2"])]
    elif part["mdy"]:
        keys = [_date_key(part["y3"], _month(part["m3"]), part["d3"])]
    elif part["my"]:
        keys = [_date_key(part["y4"], _month(part["m4"]), "")]
    elif part["slash"]:
        keys = [_date_key(part["y5"], part["b"], part["a"]), _date_key(part["y5"], part["a"], part["b"])]
    elif part["ymd"]:
        keys = [_date_key(part["y7"], part["m7"], part["d7"])]
    if part["quarter"]:
        return Value("date", "quarter", (f"{part['y6'] or ''}|{part['q']}",), match[0], match.start(), match.end())
    known = tuple(key for key in keys if key is not None)
    surface = match[0].rstrip(".")  # the full stop of the sentence is no part of the date
    return Value("date", "", known, surface, match.start(), match.start() + len(surface)) if known else None


def _month(name: str) -> int:
    folded = name.lower().rstrip(".")
    return _MONTHS.get(folded) or _MONTHS[folded[:3]]


def _word_ordinal(match: re.Match[str], text: str) -> Value | None:
    if match[0].lower() == "second" and re.search(r"(?:per|/|a|each|every)\s?$", text[max(0, match.start() - 7) : match.start()]):
        return None
    number = _ORDINALS[match[2].lower()] + _CARDINALS.get((match[1] or "").lower(), 0)
    return Value("ordinal", "", (str(number),), match[0], match.start(), match.end())


def _other(match: re.Match[str], text: str) -> Value | None:
    surface, start, end = match[0], match.start(), match.end()
    plain = _plain(match, surface)
    if plain is not None:
        kind, dimension, key, surface = plain
        return Value(kind, dimension, (key,), surface, start, start + len(surface))
    if end < len(text) and (text[end].isalnum() or text[end] in "_°") and not match["unit"]:
        return None  # 3rdparty, 4x4, 2fa: part of a name
    return _number(match, surface.rstrip(), start)


def _plain(match: re.Match[str], surface: str) -> tuple[str, str, str, str] | None:
    """Kind, dimension, key and surface of everything but a plain number."""
    if match["address"]:
        return "address", "", surface, surface
    if match["version"]:
        return "version", "", version_key(surface), surface
    if match["clock"]:
        surface = surface if surface.lower().endswith(".m.") else surface.rstrip(".")
        return "clock", "", _clock_key(surface), surface
    if match["ordinal"]:
        return "ordinal", "", str(int(surface[:-2])), surface
    if match["range"]:
        return "number", "range", re.sub(r"\s*(?:–|-|to)\s*", "-", surface), surface
    return None


def version_key(surface: str) -> str:
    """The canonical form of a version: no leading v, no trailing zero parts, so that v1.2 is 1.2.0 but not 1.20."""
    body = surface.lower().lstrip("v").removesuffix(".x")
    while body.endswith(".0"):
        body = body[:-2]
    return body


def _clock_key(surface: str) -> str:
    digits = [int(part) for part in re.findall(r"\d+", surface)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    folded = surface.lower()
    if "m" in folded:
        hour = hour % 12 + (12 if "p" in folded else 0)
    return f"{hour * 60 + minute}"


def _number(match: re.Match[str], surface: str, start: int) -> Value:
    magnitude = _magnitude(match["number"])
    if match["mult"]:
        mult = match["mult"].strip()
        magnitude *= _MULTIPLIERS.get(mult) or _MULTIPLIERS[mult.lower()]
    dimension, factor = _unit(match["unit"] or "")
    if match["money"]:
        dimension, factor = _SYMBOLS[match["money"].strip()], 1.0
    magnitude *= factor
    if match["per"]:
        per = match["per"].lower()
        dimension, magnitude = (
            (f"{dimension}/time", magnitude / _PER[per]) if per in _PER else (f"{dimension}/{_CALENDAR_PER[per]}", magnitude)
        )
    if dimension == "temperature:f":
        dimension, magnitude = "temperature", (magnitude - 32.0) * 5.0 / 9.0
    return Value("number", dimension, (f"{magnitude:.12g}",), surface, start, start + len(surface))


def _unit(unit: str) -> tuple[str, float]:
    if not unit:
        return "", 1.0
    if unit in _UNITS:
        return _UNITS[unit]
    folded = unit.lower()
    if folded in _COUNTED:
        return _COUNTED[folded], 1.0
    if folded in _CASED and unit != folded:
        return f"unit:{unit}", 1.0
    return _LOWER_UNITS[folded]


@cache
def _word_number(words: str) -> float:
    total = 0.0
    for word in re.split(r"[-\s]+", words):
        number = _CARDINALS[word]
        total = total * number if number == 100 and total else total + number
    return total


def _magnitude(text: str) -> float:
    folded = text.lower()
    if folded[0].isalpha():
        return _word_number(folded)
    return float(folded.replace(",", "").replace("_", ""))
