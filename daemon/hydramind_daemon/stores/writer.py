"""What the writer knows between batches, so that most commands need no question to the database."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import apsw

from hydramind_daemon.stores.connection import dumps, rows, run
from hydramind_daemon.stores.filter import SeenFilter
from hydramind_daemon.stores.flush import ScopeSlot, TermRef
from hydramind_daemon.stores.packing import MAX_TERM_ID, term_bytes
from hydramind_daemon.stores.write_sql import FLUSH_SETUP, WRITES
from hydramind_domain.errors import ResourceExhausted

_TERMS_KEPT: Final = 65_536
_SCOPES_KEPT: Final = 1_024


def claim_item(claim_hash: bytes) -> bytes:
    """A claim in the filter."""
    return b"c" + claim_hash


def key_item(scope: str, method: str, key: str) -> bytes:
    """An idempotency key in the filter."""
    return f"k{scope}\0{method}\0{key}".encode()


class Writer:
    """The write connection with its position in the log and its caches. One thread."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.seq = self.last_at = self.last_key = self.last_term = 0
        self._scopes: dict[str, ScopeSlot] = {}
        self._terms: dict[str, TermRef] = {}
        for statement in FLUSH_SETUP:
            run(connection, statement)
        self.reload()
        self.seen = self._filter()

    def reload(self) -> None:
        """Forget what a lost transaction made believe. Raises apsw.Error."""
        self._scopes.clear()
        self._terms.clear()
        self.seq, self.last_at, self.last_key, self.last_term = rows(self.connection, WRITES["position"])

    def _filter(self) -> SeenFilter:
        items = [claim_item(bytes.fromhex(text)) for text in rows(self.connection, WRITES["claims"])]
        items += [key_item(*row) for row in rows(self.connection, WRITES["keys"])]
        return SeenFilter(items, len(items))

    def scope(self, name: str) -> ScopeSlot:
        """A scope by name, made when it is new. Raises apsw.Error."""
        known = self._scopes.get(name)
        if known is None:
            row = rows(self.connection, WRITES["scope"], (name,)) or rows(self.connection, WRITES["new scope"], (name,))
            if len(self._scopes) >= _SCOPES_KEPT:
                self._scopes = {}
            known = self._scopes[name] = ScopeSlot(row[0], name, row[1], row[2])
        return known

    def written(self) -> dict[str, tuple[int, int]]:
        """Counters of the scopes, to go back to."""
        return {name: (scope.written, scope.counted_block) for name, scope in self._scopes.items()}

    def restore(self, written: dict[str, tuple[int, int]]) -> None:
        """Go back to earlier counters."""
        for name, scope in list(self._scopes.items()):
            if name in written:
                scope.written, scope.counted_block = written[name]
            else:
                del self._scopes[name]

    def forget_terms(self) -> None:
        """Ask the dictionary again: a purge took words out of it."""
        self._terms = {}

    def terms(self, wanted: Collection[str]) -> tuple[dict[str, TermRef], list[tuple[int, str]]]:
        """Refs of the wanted terms, and those (id, term) that are new. Raises apsw.Error."""
        if len(self._terms) + len(wanted) > _TERMS_KEPT:
            self._terms = {}
        unknown = [term for term in wanted if term not in self._terms]
        if unknown:
            for term, term_id in rows(self.connection, WRITES["term ids"], (dumps(unknown),)):
                self._terms[term] = TermRef(term_id, term_bytes(term_id).hex())
        new = []
        for term in sorted(term for term in unknown if term not in self._terms):
            self.last_term += 1
            if self.last_term > MAX_TERM_ID:
                raise ResourceExhausted("the store holds as many different words as it can", reason="TERMS_EXHAUSTED")
            self._terms[term] = TermRef(self.last_term, term_bytes(self.last_term).hex())
            new.append((self.last_term, term))
        return self._terms, new
