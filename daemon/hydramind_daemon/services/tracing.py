"""Walks provenance and conflict edges from a memory: paths for `trace`, the surroundings for graph views."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import EXCERPT, MemoryView, ids_of, ordered
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.looking import existing
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import GraphEdge, ReadView
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.scopes import Scopes
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Instant, MemoryRecord, Status

RELATIONS: Final = ("DERIVED_FROM", "ABOUT", "CONTRADICTS", "SUPERSEDED_BY", "TRUST_DECAY")
PATHS: Final = 100
"""Most paths of one trace."""

HOPS: Final = 3
COUNTED: Final = 10_000
"""Up to so many memories around one are counted."""

_GONE: Final = (Status.FORGOTTEN, Status.PURGED)
_MEMORY_EDGES: Final = ("DERIVED_FROM", "CONTRADICTS", "SUPERSEDED_BY")
_SHOWN_EDGES: Final = (*_MEMORY_EDGES, "TRUST_DECAY")


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """See the contract's TraceMemoryRequest."""

    memory_id: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    hops: int = 0
    relations: tuple[str, ...] = ()
    as_of: str = ""
    known_at: str = ""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A memory or an entity on a path. `trust` and `status` None for an entity."""

    id: str
    kind: str
    label: str
    trust: float | None = None
    status: Status | None = None


@dataclass(frozen=True, slots=True)
class PathEdge:
    """An edge on a path, by ids of its ends."""

    type: str
    from_id: str
    to_id: str
    reason: str
    standing: bool


@dataclass(frozen=True, slots=True)
class Path:
    """Vertices in walking order and the edges between them."""

    vertices: tuple[Vertex, ...]
    edges: tuple[PathEdge, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Paths by length, then ids."""

    paths: tuple[Path, ...]
    truncated: bool
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge between two memories, with external ids."""

    edge: GraphEdge
    from_id: str
    to_id: str
    cause_id: str


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Memories around one, nearest first, the edges among them, and how many there are in all."""

    memories: tuple[MemoryView, ...]
    edges: tuple[EdgeView, ...]
    total: int
    scope: ScopeAnswer


class Tracing:
    """Answers traces and neighbourhoods."""

    def __init__(self, readers: Readers, scopes: Scopes) -> None:
        self._readers = readers
        self._scopes = scopes

    async def trace(self, request: TraceRequest, call: Call) -> Trace:
        """Paths from a memory."""
        memory_id = validate.memory_id(request.memory_id)
        hops = validate.number(request.hops, "hops", HOPS, HOPS)
        relations = _relations(request.relations)
        moment = Moment.of(request.as_of, request.known_at)
        scope = await self._scopes.for_read(request.scope, call)

        def read(view: ReadView) -> Trace:
            known = moment.known(view)
            start = existing(view, scope.scope, memory_id, known)
            walk = _Walk(view, scope.scope, relations, moment.as_of, known)
            paths, truncated = walk.paths(start, hops)
            return Trace(paths, truncated, scope)

        return await self._readers.read(read, call.deadline)

    async def neighborhood(self, memory_id: str, ref: ScopeRef, hops: int, limit: int, known_at: str, call: Call) -> Neighborhood:
        """What lies around a memory."""
        wanted = validate.memory_id(memory_id)
        distance = validate.number(hops, "hops", 1, HOPS)
        most = validate.number(limit, "limit", 200, 1_000)
        moment = Moment.of(known_at=known_at)
        scope = await self._scopes.for_read(ref, call)

        def read(view: ReadView) -> Neighborhood:
            known = moment.known(view)
            start = existing(view, scope.scope, wanted, known)
            around = _around(view, scope.scope, start.key, distance, known)
            keys = around[:most]
            inside = set(keys)
            edges = [e for e in view.edges(keys, _SHOWN_EDGES, known) if e.src in inside and e.dst in inside]
            causes = {edge.cause for edge in edges if edge.cause is not None}
            names = ids_of(view, inside | causes)
            shown = tuple(
                EdgeView(edge, names[edge.src], names[edge.dst], names.get(edge.cause, "") if edge.cause is not None else "")
                for edge in edges
            )
            return Neighborhood(tuple(ordered(view, keys, known)), shown, len(around), scope)

        return await self._readers.read(read, call.deadline)


def _relations(given: Sequence[str]) -> frozenset[str]:
    wanted = frozenset(name.strip().upper() for name in given)
    unknown = sorted(wanted - set(RELATIONS))
    if unknown:
        raise InvalidArgument.of("relations", f"names {', '.join(unknown)[:200]}; there are {', '.join(RELATIONS)}")
    return wanted or frozenset(RELATIONS[:-1])


def _around(view: ReadView, scope: str, start: int, hops: int, known: int | None) -> list[int]:
    """Keys within a distance, nearest first, at most 10,000."""
    found = [start]
    seen = {start}
    frontier = [start]
    for _ in range(hops):
        reached = sorted({end for e in view.edges(frontier, _MEMORY_EDGES, known) for end in (e.src, e.dst)} - seen)
        seen.update(reached)
        records = view.records(reached[:COUNTED], known)
        frontier = [key for key, r in sorted(records.items()) if r.scope == scope and r.status not in _GONE]
        found += frontier
        if not frontier or len(found) >= COUNTED:
            break
    return found[:COUNTED]


_Node = tuple[str, int]
"""("m", memory key) or ("e", entity key)."""

_Step = tuple[GraphEdge, _Node]


@dataclass(frozen=True, slots=True)
class _Trail:
    """A path as keys."""

    nodes: tuple[_Node, ...]
    edges: tuple[GraphEdge, ...] = ()


class _Walk:
    """Breadth-first over one view; what a caller may not see is cut before anything is counted."""

    def __init__(self, view: ReadView, scope: str, relations: frozenset[str], as_of: Instant | None, known: int | None) -> None:
        self._view = view
        self._scope = scope
        self._relations = relations
        self._as_of = as_of
        self._known = known
        self._vertices: dict[_Node, Vertex | None] = {}

    def paths(self, start: MemoryRecord, hops: int) -> tuple[tuple[Path, ...], bool]:
        """At most 100 paths by length, then ids; and whether there are more."""
        first: _Node = ("m", start.key)
        self._vertices[first] = _memory_vertex(start)
        found: list[_Trail] = []
        level = [_Trail((first,))]
        for _ in range(hops):
            level = self._longer(level)
            found += level
            if not level or len(found) > PATHS:
                break
        return tuple(self._path(trail) for trail in found[:PATHS]), len(found) > PATHS

    def _longer(self, level: Sequence[_Trail]) -> list[_Trail]:
        steps = self._steps({trail.nodes[-1] for trail in level})
        longer = [
            _Trail((*trail.nodes, node), (*trail.edges, edge))
            for trail in level
            for edge, node in steps.get(trail.nodes[-1], ())
            if node not in trail.nodes
        ]
        return sorted(longer, key=self._order)

    def _order(self, trail: _Trail) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(self._seen(node).id for node in trail.nodes), tuple(edge.type for edge in trail.edges)

    def _steps(self, nodes: Collection[_Node]) -> Mapping[_Node, list[_Step]]:
        """Visible steps from each of the nodes, in either direction of the edges."""
        memories = {key for kind, key in nodes if kind == "m"}
        entities = {key for kind, key in nodes if kind == "e"}
        edges = list(self._view.edges(memories, self._relations, self._known)) if memories else []
        if entities:
            edges += self._view.about(entities, self._known)
        steps: dict[_Node, list[_Step]] = defaultdict(list)
        for edge in edges:
            source: _Node = ("m", edge.src)
            target: _Node = ("e" if edge.type == "ABOUT" else "m", edge.dst)
            if source in nodes:
                steps[source].append((edge, target))
            if target in nodes:
                steps[target].append((edge, source))
        self._load({node for found in steps.values() for _, node in found})
        return {
            node: [step for step in dict.fromkeys(found) if self._vertices[step[1]] is not None] for node, found in steps.items()
        }

    def _load(self, nodes: Iterable[_Node]) -> None:
        new = [node for node in nodes if node not in self._vertices]
        records = self._view.records([key for kind, key in new if kind == "m"], self._known)
        entities = self._view.entity_rows([key for kind, key in new if kind == "e"])
        for kind, key in new:
            if kind == "m":
                record = records.get(key)
                self._vertices[kind, key] = _memory_vertex(record) if record is not None and self._shows(record) else None
            else:
                row = entities.get(key)
                self._vertices[kind, key] = Vertex(f"entity:{row.name}", "entity", row.name) if row is not None else None

    def _shows(self, record: MemoryRecord) -> bool:
        if record.scope != self._scope or record.status in _GONE:
            return False
        return self._as_of is None or record.valid_at(self._as_of)

    def _seen(self, node: _Node) -> Vertex:
        vertex = self._vertices[node]
        assert vertex is not None
        return vertex

    def _path(self, trail: _Trail) -> Path:
        edges = tuple(
            PathEdge(
                edge.type,
                self._seen(("m", edge.src)).id,
                self._seen(("e" if edge.type == "ABOUT" else "m", edge.dst)).id,
                edge.reason,
                edge.standing,
            )
            for edge in trail.edges
        )
        return Path(tuple(self._seen(node) for node in trail.nodes), edges)


def _memory_vertex(record: MemoryRecord) -> Vertex:
    return Vertex(record.memory_id, "memory", record.content[:EXCERPT], record.trust, record.status)
