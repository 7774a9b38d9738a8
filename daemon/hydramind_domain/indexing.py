"""What the indexes hold of a content. Derived from the content alone, so that an index can always be built anew."""

from __future__ import annotations

from hydramind_domain.claims import analyse_claim, slot_terms
from hydramind_domain.plan import IndexTerms
from hydramind_domain.text import analyse


def index_terms(content: str) -> IndexTerms:
    """Distinct terms in order of appearance, number of tokens, and conflict slot terms."""
    analysis = analyse(content)
    return IndexTerms(analysis.terms, len(analysis.tokens), slot_terms(analyse_claim(content)))
