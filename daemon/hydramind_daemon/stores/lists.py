"""Reads of lists: timelines, pages of memories, scopes, entities, conflicts, exports, events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from hydramind_daemon.services.ports import ConflictRow, EntityRow, PastEvent, ScopeCounts, ScopeRow, StoredAnswer
from hydramind_daemon.stores.connection import dumps
from hydramind_daemon.stores.list_sql import LIST_TIMED, LISTS
from hydramind_daemon.stores.packing import STATUS_CODE, STATUSES, entity_id, project_name
from hydramind_daemon.stores.read_sql import PLAIN
from hydramind_daemon.stores.reads import event_of
from hydramind_daemon.stores.recall import RecallReads
from hydramind_daemon.stores.write_sql import WRITES
from hydramind_domain.model import Instant, Status

_FOREVER: Final = 1 << 62
_CONFLICTS_A_COMMIT: Final = 64


class ListReads(RecallReads):
    """Lists and pages."""

    def scope_exists(self, scope: str) -> bool:
        """Whether anything was ever written there."""
        row = self._rows(PLAIN["scope"], (scope,))
        return bool(row) and row[3] is not None

    def scope_names(self) -> Sequence[str]:
        """Names of all scopes, sorted."""
        return sorted(self._rows(PLAIN["scope names"]))

    def timeline(
        self,
        scope: str,
        entity_norm: str | None,
        keys: Collection[int] | None,
        as_of: Instant | None,
        after: tuple[Instant, int] | None,
        limit: int,
        known: int | None = None,
    ) -> Sequence[int]:
        """Keys by (valid_from, key) after a position; without forgotten and purged ones, and those that begin after `as_of`."""
        place = self._scope(scope)
        if place is None:
            return []
        kind = "keys" if keys is not None else "scope" if entity_norm is None else "entity"
        after_at, after_key = after or (-_FOREVER, 0)
        return self._timed(
            LIST_TIMED[f"timeline {kind}"],
            known,
            scope=place.id,
            entity=entity_id(scope, entity_norm or ""),
            keys=dumps(sorted(keys or ())),
            as_of=_FOREVER if as_of is None else as_of,
            after_at=after_at,
            after_key=after_key,
            limit=limit,
        )

    def newest(
        self, scope: str, statuses: Collection[Status], entity_norm: str | None, before: int | None, limit: int
    ) -> tuple[Sequence[int], int]:
        """Keys newest first, below `before`; and the number in all pages."""
        place = self._scope(scope)
        if place is None:
            return [], 0
        codes = sorted(STATUS_CODE[status] for status in statuses)
        asked = {
            "scope": place.id,
            "statuses": dumps(codes),
            "before": _FOREVER if before is None else before,
            "limit": limit,
            "entity": entity_id(scope, entity_norm or ""),
        }
        if entity_norm is not None:
            return self._rows(LISTS["newest about"], asked), int(self._value(LISTS["number about"], asked))
        counters = self._rows(LISTS["counters"], asked)
        keys = [key for page in self._rows(LISTS["newest"], asked) for key in page]
        return sorted(keys, reverse=True)[:limit], sum(counters[code] for code in codes)

    def scopes(self, after: str, limit: int) -> Sequence[ScopeRow]:
        """Scopes by name after a name."""
        found = self._rows(LISTS["scopes"], {"after": after, "limit": limit})
        return [ScopeRow(name, memories, at, tuple(sorted(roots))) for name, memories, at, roots in found]

    def entities(self, scope: str, contains: str, offset: int, limit: int) -> Sequence[EntityRow]:
        """Entities by number of current memories, then name."""
        place = self._scope(scope)
        if place is None:
            return []
        asked = {"scope": place.id, "contains": contains.casefold(), "offset": offset, "limit": limit}
        return [EntityRow(*row) for row in self._rows(LISTS["entities"], asked)]

    def conflicts(self, scope: str, include_withdrawn: bool, before_seq: int | None, limit: int) -> Sequence[ConflictRow]:
        """Contradictions, newest first; always whole commits, so possibly a few more than `limit`."""
        place = self._scope(scope)
        if place is None:
            return []
        before = _FOREVER if before_seq is None else before_seq
        asked = {"scope": place.id, "before": before, "limit": limit + _CONFLICTS_A_COMMIT}
        found = self._rows(LISTS["conflicts" if include_withdrawn else "conflicts standing"], asked)
        found.sort(key=lambda row: (-row[5], -row[0], -row[1]))
        last = found[limit - 1][5] if len(found) >= limit > 0 else 0
        return [
            ConflictRow(newer, older, code, reason, at, seq, bool(standing), verdict)
            for newer, older, code, reason, at, seq, standing, verdict in found
            if seq >= last
        ]

    def counts(self, scope: str) -> ScopeCounts:
        """Numbers of a scope."""
        place = self._scope(scope)
        if place is None:
            return ScopeCounts(dict.fromkeys(STATUSES, 0), 0, 0, None)
        asked = {"scope": place.id}
        *numbers, last_write_at = self._rows(LISTS["counters"], asked)
        entities = self._value(LISTS["entities number"], asked)
        conflicts = self._value(LISTS["standing conflicts"], asked)
        return ScopeCounts(dict(zip(STATUSES, numbers, strict=True)), entities, conflicts, last_write_at)

    def export_keys(
        self, scope: str | None, after: int, limit: int, *, every_status: bool, known: int | None = None
    ) -> Sequence[int]:
        """Keys in commit order after a key; without `every_status`, forgotten and purged ones are left out."""
        worst = len(STATUSES) - 1 if every_status else STATUS_CODE[Status.SUPERSEDED]
        if scope is None:
            return sorted(self._timed(LIST_TIMED["export"], known, after=after, limit=limit, worst=worst))
        place = self._scope(scope)
        if place is None:
            return []
        pages = self._timed(LIST_TIMED["export scope"], known, scope=place.id, after=after, limit=limit, worst=worst)
        return sorted(key for page in pages for key in page)[:limit]

    def sequence_at(self, at: Instant) -> int:
        """Last commit sequence at or before a transaction time; 0 when there is none."""
        return int(self._value(PLAIN["sequence at"], (at,)))

    def events_after(self, seq: int, scopes: Collection[str] | None, limit: int) -> Sequence[PastEvent]:
        """Events with a larger sequence, in order; always whole commits, so possibly a few more than `limit`."""
        ids = None if scopes is None else dumps(self._rows(LISTS["scope ids"], {"names": dumps(list(scopes))}))
        asked = {"after": seq, "limit": limit, "scopes": ids}
        end = self._value(LISTS["events end" if scopes is None else "events end in"], asked)
        if end is None:
            return []
        return [event_of(row) for row in sorted(self._rows(LISTS["events"], {**asked, "end": end}))]

    def oldest_event(self) -> int:
        """Oldest commit sequence whose events are kept: they all are, with the log."""
        return int(self._value(LISTS["oldest event"]))

    def stored_answer(self, scope: str, method: str, key: str) -> StoredAnswer | None:
        """What was answered to an idempotency key before."""
        row = self._rows(WRITES["answer"], (scope, method, key))
        return StoredAnswer(bytes.fromhex(row[0]), row[1], bytes.fromhex(row[2])) if row else None

    def project_scope(self, root: str, wanted: str) -> str:
        """Scope name of a project root: the stored mapping, else the one that `map_project` would make now."""
        found = self._value(PLAIN["project"], (root,))
        if found is not None:
            return str(found)
        return project_name(root, wanted, taken=self._value(WRITES["other root"], (wanted, root)) is not None)
