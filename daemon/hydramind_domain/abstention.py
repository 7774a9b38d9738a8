"""Why a recall answers nothing, in words: which term or name of the query has no evidence in the scope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hydramind_domain.ranking import CorpusStats, QueryPlan

_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class AbstentionReason:
    """A sentence for the caller, and the words and names of the query that no memory of the scope holds."""

    text: str
    missing_terms: tuple[str, ...]
    missing_entities: tuple[str, ...]


def explain(plan: QueryPlan, stats: CorpusStats, unknown_entities: tuple[str, ...] = ()) -> AbstentionReason:
    """Reason for an empty answer. `unknown_entities`: entities that the caller asked for and the scope does not know."""
    names = tuple(dict.fromkeys((*unknown_entities, *plan.missing_names)))
    terms = tuple(term for term in plan.missing_terms if not any(term.casefold() in name.casefold() for name in names))
    return AbstentionReason(_sentence(plan, stats, names, terms), plan.missing_terms, names)


def _sentence(plan: QueryPlan, stats: CorpusStats, names: tuple[str, ...], terms: tuple[str, ...]) -> str:
    if not stats.memories:
        return "The scope holds no memories."
    if names:
        rest = f"; nor has it evidence of {_listed(terms)}" if terms else ""
        return f"The scope has never seen {_listed(names)}{rest}."
    if terms and not plan.terms:
        return f"No memory of the scope holds any word of the query: {_listed(terms)}."
    if terms:
        return f"No memory has enough evidence; the scope has none of {_listed(terms)}."
    return "The scope knows the words of the query, but no memory holds enough of them together."


def _listed(words: tuple[str, ...]) -> str:
    """At most five, quoted as JSON quotes them, so that a query cannot write into the sentence."""
    shown = ", ".join('"' + "".join(c for c in word if c.isprintable() and c != '"')[:64] + '"' for word in words[:_NAMED])
    more = len(words) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown
