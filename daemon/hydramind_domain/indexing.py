"""What the indexes hold of a memory. Derived from its content and entities, so that an index can always be built anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hydramind_domain.claims import analyse_claim, slot_terms
from hydramind_domain.model import EntityLink, Origin
from hydramind_domain.plan import IndexTerms
from hydramind_domain.text import about_term, analyse


def index_terms(content: str) -> IndexTerms:
    """Distinct terms in order of appearance, number of tokens, and conflict slot terms."""
    analysis = analyse(content)
    return IndexTerms(analysis.terms, len(analysis.tokens), slot_terms(analyse_claim(content)))


def with_entities(index: IndexTerms, entities: Iterable[EntityLink]) -> IndexTerms:
    """The index with one more term for each entity that the memory was said, and not only read, to be about."""
    said = [about_term(entity.norm) for entity in entities if entity.origin is not Origin.EXTRACTED]
    return replace(index, terms=(*index.terms, *said)) if said else index
