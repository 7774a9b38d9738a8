"""When two clauses are the same but for one thing: their polarity, a pair of opposites, a value, or a change of state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_clauses import Clause, is_idle
from hydramind_domain.conflict_frames import GENERIC
from hydramind_domain.conflict_tokens import Token
from hydramind_domain.values import differ

_MAX_DIFFERENCES: Final = 3
_SCENE_CLASSES: Final = frozenset({"colour", "country", "nationality", "planet", "direction"})
_LOCATED: Final = lexicon.stems("located")
_SCHEDULED: Final = lexicon.stems("scheduled")
_RESTRICTING: Final = lexicon.words("restricting")
_IDENTIFYING: Final = lexicon.stems("identifying")
_CAPPING: Final = lexicon.stems("capping")
_LEAVING: Final = lexicon.stems("leaving")
_PREFERENCE: Final = lexicon.stems("preference")


@dataclass(frozen=True, slots=True)
class Finding:
    """A conflict between two clauses: the reason code, the words, and the code point spans in either content."""

    code: str
    reason: str
    new: tuple[int, int]
    old: tuple[int, int]


def value_code(one: Token, two: Token) -> str:
    """The reason code for two differing typed tokens."""
    kinds = {token.value.kind for token in (one, two) if token.value is not None}
    if not kinds or "address" in kinds:
        return "value_name"
    if "version" in kinds:
        return "value_version"
    return "value_date" if kinds & {"date", "clock"} else "value_number"


def aligned(new: Clause, old: Clause) -> Finding | None:
    """The conflict between two clauses that say nearly the same, or None."""
    if (new.deictic or old.deictic) and not (new.scene and old.scene):
        return None
    if new.keys == old.keys:
        return _same_words(new, old)
    if abs(len(new.core) - len(old.core)) <= _MAX_DIFFERENCES and not new.vague and not old.vague:
        found = _one_difference(new, old, new.core, old.core) or _one_difference(new, old, new.full, old.full)
        if found is not None:
            return found
    return _state_change(new, old) or _swapped_preference(new, old) or _taste_denied(new, old)


def _same_words(new: Clause, old: Clause) -> Finding | None:
    if new.negated == old.negated:
        if len(new.full) == len(old.full) and new.full != old.full:
            return _one_difference(new, old, new.full, old.full)
        return None
    return _negation(new, old) if new.governors == old.governors else None


def _negation(new: Clause, old: Clause) -> Finding | None:
    if ("some" in _soft_words(new)) != ("some" in _soft_words(old)):
        return None  # some are, and some are not
    if new.vague or old.vague or not _moods_clash(new, old) or _tenses_part(new, old) or not _about_something(new):
        return None
    new_span, old_span = _negation_span(new), _negation_span(old)
    code = "preference" if not _PREFERENCE.isdisjoint(new.stems) and "@me" in new.stems else "negation"
    return Finding(code, "one says that it is so, the other that it is not", new_span, old_span)


def _soft_words(clause: Clause) -> set[str]:
    return {token.folded for token in clause.full if token.role == "soft"}


def _about_something(clause: Clause) -> bool:
    """One bare word, or "I" and a verb, is too little to be a claim."""
    content = [token for token in clause.core if not token.key.startswith("@")]
    if len(content) != 1:
        return len(content) >= 2
    ours = "@we" in clause.stems and not clause.past
    return ours or bool(clause.have) or (clause.copular and not content[0].capital)


def _negation_span(clause: Clause) -> tuple[int, int]:
    return clause.negation or (clause.core[0].start, clause.core[-1].end)


def _moods_clash(new: Clause, old: Clause) -> bool:
    """As in "Need not" contradicts a duty only; "may not" a permission, a duty or a plain statement."""
    moods = {new.modality, old.modality}
    return "exempt" not in moods or "obligation" in moods


def _tenses_part(new: Clause, old: Clause) -> bool:
    """One speaks of the past and the other does not (a "no longer" is about now)."""
    return new.past != old.past and not new.no_longer and not (new.past_event and not old.past)


def _one_difference(new: Clause, old: Clause, left: tuple[Token, ...], right: tuple[Token, ...]) -> Finding | None:
    """The clauses agree word for word but for at most three opposites or values in corresponding places."""
    pairs = _differences(left, right)
    if pairs is None or not pairs or len(pairs) > _MAX_DIFFERENCES:
        return None
    kept = len(left) - len(pairs)
    if kept < 1 or (kept < 2 and not _enough(new, pairs)):
        return None
    found: Finding | None = None
    opposed = 0
    for index, one, two in pairs:
        verdict = _pair(new, old, left, index, one, two)
        if verdict is None:
            return None
        opposed += verdict[0] in {"antonym", "state_change", "preference", "converse"}
        found = found or Finding(verdict[0], verdict[1], (one.start, one.end), (two.start, two.end))
    partial = "some" in _soft_words(new) | _soft_words(old)  # some are, and some are not
    if partial or found is None or (len(pairs) > 1 and len({(one.key, two.key) for _i, one, two in pairs}) > 1):
        return None
    if new.negated != old.negated or (opposed and _tenses_part(new, old) and not _has_ended(new, pairs)):
        return None
    return found


def _has_ended(new: Clause, pairs: list[tuple[int, Token, Token]]) -> bool:
    """As in "The feature was deprecated" is an event whose outcome lasts."""
    return new.past_event or (new.past and all(one.folded.endswith("ed") for _index, one, _two in pairs))


def _enough(new: Clause, pairs: list[tuple[int, Token, Token]]) -> bool:
    """With one word in common only a plain copular clause or a typed value will do ("Caching is disabled")."""
    return new.copular or new.correction == 2 or any(one.typed for _index, one, _two in pairs)


def _differences(left: tuple[Token, ...], right: tuple[Token, ...]) -> list[tuple[int, Token, Token]] | None:
    """Corresponding tokens that differ; None when the two do not correspond one to one."""
    if len(left) != len(right):
        return None
    pairs = [(i, a, b) for i, (a, b) in enumerate(zip(left, right, strict=True)) if a.key != b.key]
    return pairs if len(pairs) <= _MAX_DIFFERENCES else None


def _pair(new: Clause, old: Clause, line: tuple[Token, ...], index: int, one: Token, two: Token) -> tuple[str, str] | None:
    """The conflict between two corresponding tokens: (code, reason), or None."""
    at = _core_index(new, line, index)
    scene = new.scene and old.scene and not new.definite
    if one.value is not None and two.value is not None:
        return _value_pair(new, old, line, index, at, scene=scene)
    if new.correction == 2 and at >= new.verb_at and not one.typed and not two.typed and len(line) >= (2 if new.copular else 3):
        return "correction", f"{two.folded} was corrected to {one.folded}"
    if one.member is not None and two.member is not None and lexicon.classes_differ(one.member, two.member):
        verdict = _class_pair(new, at, one, two, scene=scene)
        if verdict is not None:
            return verdict
    kind = lexicon.opposite_kind(one.keys or (one.folded,), two.keys or (two.folded,))
    if kind is None:
        return _correction_pair(new, at, one, two)
    return _opposite_pair(new, old, at, one, two, kind, scene=scene)


def _core_index(clause: Clause, line: tuple[Token, ...], index: int) -> int:
    token = line[index]
    for position, other in enumerate(clause.core):
        if other.start >= token.start:
            return position
    return len(clause.core)


def _correction_pair(new: Clause, at: int, one: Token, two: Token) -> tuple[str, str] | None:
    """As in "Actually" corrects the object of a verb that has one object at a time."""
    if new.correction == 0 or at < max(new.verb_at, 1) or (new.multi_valued and new.correction < 2) or len(new.core) < 3:
        return None
    return "correction", f"{two.folded} was corrected to {one.folded}"


def _opposite_pair(
    new: Clause, old: Clause, at: int, one: Token, two: Token, kind: str, *, scene: bool
) -> tuple[str, str] | None:
    code = {"antonym": "antonym", "state": "state_change", "converse": "converse", "preference": "preference"}[kind]
    if one.key in _PREFERENCE or two.key in _PREFERENCE:
        code = "preference"
    reason = f"{one.folded} against {two.folded}"
    if scene:
        return code, reason
    if at < new.verb_at and not (at == new.verb_at - 1 and new.core[at].role == "prep"):
        return None  # another subject: "the old API" and "the new API"
    if new.multi_valued and at > new.verb_at and (new.indefinite_object or not one.typed):
        return None  # two objects of a verb that takes many: "likes hot coffee", "likes cold coffee"
    if new.past_event and old.past_event and kind == "antonym":
        return None  # two events
    return code, reason


def _class_pair(new: Clause, at: int, one: Token, two: Token, *, scene: bool) -> tuple[str, str] | None:
    name = one.member.class_name if one.member is not None else ""
    hidden = at < max(new.verb_at, 1) or new.additive or new.past_event or not _class_is_value(new, at, name)
    if hidden and not (scene and name in _SCENE_CLASSES):
        return None
    if _verb_key(new) == _PREFER:
        return "preference", f"{one.folded} rather than {two.folded}"
    return "value_date" if name in {"weekday", "month"} else "value_name", f"{one.folded} against {two.folded}"


def _class_is_value(new: Clause, at: int, name: str) -> bool:
    """Whether a member of a closed class is what the predicate says, rather than one of several or a condition."""
    complement = new.copular and at == new.verb_at
    if name in {"country", "city"}:
        return complement or _verb_key(new) in _LOCATED
    if name == "frequency":
        return not new.multi_valued
    if name in {"weekday", "month", "season"}:
        return complement or _verb_key(new) in _SCHEDULED
    direct = not new.multi_valued and not new.governors[at]
    return complement or (direct and (new.correction > 0 or _verb_key(new) == _PREFER))


_PREFER: Final = lexicon.lemma("prefer")


def _value_pair(new: Clause, old: Clause, line: tuple[Token, ...], index: int, at: int, *, scene: bool) -> tuple[str, str] | None:
    one = line[index]
    two = next((token for token in (old.core if len(line) == len(new.core) else old.full)[index : index + 1]), None)
    if two is None or one.value is None or two.value is None or not differ(one.value, two.value):
        return None
    code = value_code(one, two)
    reason = f"{one.folded} against {two.folded}"
    if scene:
        return code, reason
    if new.past_event or old.past_event or new.additive:
        return None
    ok = {"date": _date_is_value, "clock": _date_is_value, "ordinal": _ordinal_is_value}.get(one.value.kind, _number_is_value)
    return (code, reason) if ok(new, at) else None


def _verb_key(clause: Clause) -> str:
    return clause.core[clause.verb_at].key if clause.verb_at < len(clause.core) else ""


def _date_is_value(clause: Clause, at: int) -> bool:
    if at < max(clause.verb_at, 1):
        return False
    verb = _verb_key(clause)
    return (clause.copular and at == clause.verb_at) or verb in _SCHEDULED


def _ordinal_is_value(clause: Clause, at: int) -> bool:
    return clause.copular and at == clause.verb_at


def _number_is_value(clause: Clause, at: int) -> bool:
    """Whether a number says how much, rather than which one or under what condition."""
    if at < clause.verb_at:
        return _counts_subject(clause, at) or _installed(clause, at)
    if _identifies(clause, at):
        return False
    value, governor, verb = clause.core[at].value, clause.governors[at], _verb_key(clause)
    if at > clause.verb_at + 1 and verb in _RUNNING and clause.core[at - 1].capital:
        return True
    if governor not in _RESTRICTING or governor in _GRADING or (at == clause.verb_at and clause.copular):
        return True
    if value is not None and value.kind == "version" and verb in _SCHEDULED:
        return True
    lasting = governor in _LASTING and value is not None and value.dimension == "time"
    return verb in _CAPPING or lasting


def _counts_subject(clause: Clause, at: int) -> bool:
    """As in "two replicas are required": a count before a plural, where "port 8080 is open" names one of many."""
    value = clause.core[at].value
    return (
        at == 0 and len(clause.core) > 1 and clause.core[1].folded.endswith("s") and value is not None and value.kind == "number"
    )


def _installed(clause: Clause, at: int) -> bool:
    """As in "hydradb v1.2 is installed": one version at a time is."""
    value = clause.core[at].value
    return value is not None and value.kind == "version" and at > 0 and not _INSTALLED.isdisjoint(clause.stems)


_INSTALLED: Final = frozenset(lexicon.lemma(word) for word in ("installed", "deployed", "running", "live", "pinned", "latest"))


def _identifies(clause: Clause, at: int) -> bool:
    """Whether a number in the predicate only names which one: "works on issue 42", "exposes port 8080"."""
    value, before = clause.core[at].value, clause.core[at - 1] if at else None
    if value is not None and value.kind == "version" and clause.multi_valued:
        return True
    if before is None:
        return False
    same_phrase = clause.governors[at] == clause.governors[at - 1]
    if same_phrase and before.capital and _verb_key(clause) in _RUNNING:
        return False  # "runs on Node 18": a version in all but form
    return (before.key in _IDENTIFYING and same_phrase) or (clause.multi_valued and at > clause.verb_at + 1)


_RUNNING: Final = frozenset(lexicon.lemma(word) for word in ("run", "use", "require", "target", "need", "deploy"))
_GRADING: Final = frozenset({"", "to", "than", "up", "after", "every", "over", "under"})
_LASTING: Final = frozenset({"for", "within", "in", "before"})


# ---- one state against the change that ends it ----------------------------------------------------------------------


def _state_change(new: Clause, old: Clause) -> Finding | None:
    """As in "Alice works at Google as an engineer" / "Alice left Google last month"; "must" / "no longer" with less detail."""
    if new.negated != old.negated:
        return _wider_negation(new, old) if new.negated else None
    if new.negated or new.vague or old.vague or (old.past and not (new.past or old.past_event)) or new.additive:
        return None
    changes = [token for token in new.core if token.key not in old.stems and not is_idle(token)]
    if len(changes) != 1:
        return None
    one = changes[0]
    ended = [token for token in old.core if token.key not in new.stems and token.key != "@we"]
    if any(token.temporal for token in ended) and any(t.temporal and t.key not in old.stems for t in new.core):
        return None  # the two speak of different times
    for two in (*ended, *old.have):
        kind = lexicon.opposite_kind(one.keys or (one.folded,), two.keys or (two.folded,))
        if kind in {"state", "preference"} and _covers(new, old, one, two, ended):
            code = "preference" if kind == "preference" else "state_change"
            return Finding(code, f"{one.folded} against {two.folded}", (one.start, one.end), (two.start, two.end))
    return None


def _covers(new: Clause, old: Clause, one: Token, two: Token, ended: list[Token]) -> bool:
    """What the old clause has beyond the shared words must come after its own object, or be the way of it."""
    shared = [index for index, key in enumerate(old.keys) if key in new.stems]
    named = [i for i in shared if not old.keys[i].startswith("@") and old.keys[i] not in GENERIC]
    if old.past_event and not new.past and (two.key not in _LEAVING or one.key in _LEAVING):
        return False  # only an end that lasts ("sold", "left") speaks against what is said to be so now
    extras = [i for i, t in enumerate(old.core) if any(t is e for e in ended) and t is not two and not is_idle(t)]
    if not extras:
        return bool(named)
    if len(named) < 2 and not (named and "@me" in new.stems):
        return False
    return one.key in _LEAVING and all(
        i > shared[-1] or (old.governors[i] == "as") or _names_holder(old, i, named) for i in extras
    )


def _names_holder(old: Clause, index: int, named: list[int]) -> bool:
    """As in "The config has a retry flag" / "We removed the retry flag": the holder may go unnamed."""
    return index < old.verb_at and len(named) >= 2


def _wider_negation(new: Clause, old: Clause) -> Finding | None:
    """A negation that leaves out details which the old clause gave only as the way ("as an engineer")."""
    lost = [i for i, key in enumerate(old.keys) if key not in new.stems]
    if not new.stems <= old.stems or len(new.stems) < 2 or any(old.governors[i] != "as" for i in lost):
        return None
    kept = [(old.keys[i], old.governors[i]) for i in range(len(old.keys)) if i not in lost]
    return _negation(new, old) if kept == list(zip(new.keys, new.governors, strict=True)) else None


def _swapped_preference(new: Clause, old: Clause) -> Finding | None:
    """As in "Prefers tabs over spaces" against "prefers spaces over tabs"."""
    if new.negated != old.negated or len(new.core) != len(old.core) or new.stems != old.stems or new.keys == old.keys:
        return None
    if lexicon.lemma("prefer") not in new.stems:
        return None
    differing = [i for i, (a, b) in enumerate(zip(new.keys, old.keys, strict=True)) if a != b]
    if len(differing) != 2:
        return None
    one, two = new.core[differing[0]], old.core[differing[0]]
    return Finding("preference", f"{one.folded} rather than {two.folded}", (one.start, one.end), (two.start, two.end))


def _taste_denied(new: Clause, old: Clause) -> Finding | None:
    """As in "I love Chinese food" against "I don't like Chinese food": another word of liking, denied."""
    if new.negated == old.negated or new.vague or old.vague or len(new.core) != len(old.core) or _tenses_part(new, old):
        return None
    differing = [i for i, (a, b) in enumerate(zip(new.keys, old.keys, strict=True)) if a != b]
    if len(differing) != 1 or not {new.keys[differing[0]], old.keys[differing[0]]} <= _LIKING:
        return None
    one, two = new.core[differing[0]], old.core[differing[0]]
    return Finding("preference", f"{one.folded} against {two.folded}", (one.start, one.end), (two.start, two.end))


_LIKING: Final = lexicon.stems("liking")
