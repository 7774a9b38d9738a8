"""From what a call says about its scope to the scope's name (semantics: Scope)."""

from __future__ import annotations

import difflib
import posixpath
from typing import Final

from hydramind_daemon.services import validate
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef, ScopeSource
from hydramind_daemon.services.ports import ReadView
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.writer import Writer
from hydramind_domain.errors import InvalidArgument

DEFAULT_SCOPE: Final = "default"
_ROOT_CHARS: Final = 4_096
_NEAR: Final = 5


def stated(ref: ScopeRef) -> ScopeAnswer | None:
    """The scope when the call names it or names nothing; None when a project folder has to be looked up."""
    if ref.name and ref.project_root:
        raise InvalidArgument.of("scope", "has both a name and a project_root; give one of them")
    if ref.name:
        return ScopeAnswer(validate.name(ref.name, "scope"), ref.source or ScopeSource.EXPLICIT)
    if ref.project_root:
        return None
    return ScopeAnswer(DEFAULT_SCOPE, ref.source or ScopeSource.DEFAULT)


def wanted_name(root: str) -> str:
    """Scope name that a project folder asks for: its own name."""
    if not root.startswith("/") or "\0" in root or len(root) > _ROOT_CHARS:
        raise InvalidArgument.of("scope.project_root", "is not an absolute path; resolve it before the call")
    base = posixpath.basename(root.rstrip("/")) or "root"
    return validate.name(base[: validate.NAME_CHARS - 7], "scope.project_root")


def near_names(asked: str, names: list[str]) -> tuple[str, ...]:
    """At most five names that look like the asked one: equal but for case, containing it, or spelt alike."""
    folded = asked.casefold()
    by_fold = {name.casefold(): name for name in names}
    alike = difflib.get_close_matches(folded, list(by_fold), n=_NEAR, cutoff=0.6)
    within = [fold for fold in by_fold if len(folded) > 2 and (folded in fold or (len(fold) > 2 and fold in folded))]
    return tuple(by_fold[fold] for fold in dict.fromkeys([*alike, *within]))[:_NEAR]


class Scopes:
    """Resolves scopes. Mappings of project folders never change, so that those seen once are kept."""

    def __init__(self, readers: Readers, writer: Writer) -> None:
        self._readers = readers
        self._writer = writer
        self._mapped: dict[str, str] = {}

    async def for_read(self, ref: ScopeRef, call: Call) -> ScopeAnswer:
        """The scope of a read; creates nothing, not even for a project folder that was never seen."""
        known = self._known(ref)
        if known is not None:
            return known
        root = ref.project_root
        wanted = wanted_name(root)

        def look(view: ReadView) -> str:
            return view.project_scope(root, wanted)

        return ScopeAnswer(await self._readers.read(look, call.deadline), ref.source or ScopeSource.PROJECT)

    async def for_write(self, ref: ScopeRef) -> ScopeAnswer:
        """The scope of a write; a project folder seen for the first time is mapped for good."""
        known = self._known(ref)
        if known is not None:
            return known
        root = ref.project_root
        name = await self._writer.map_project(root, wanted_name(root))
        self._mapped[root] = name
        return ScopeAnswer(name, ref.source or ScopeSource.PROJECT)

    def _known(self, ref: ScopeRef) -> ScopeAnswer | None:
        answer = stated(ref)
        if answer is None and ref.project_root in self._mapped:
            return ScopeAnswer(self._mapped[ref.project_root], ref.source or ScopeSource.PROJECT)
        return answer
