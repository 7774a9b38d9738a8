"""Which scope a call is about: explicit, else HYDRAMIND_SCOPE, else the project around the working directory, else default.

The project is found by reading `.git`, as files, without a git process: a folder means its parent; a file means a worktree, if
the repository that it names points back here, and then all worktrees are one project. The daemon maps the folder to a name.
"""

# Reason: the shell and the MCP host resolve on every call; os.path does it without building objects.
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from hydramind_client.errors import InvalidArgument
from hydramind_client.model import ScopeSource

VARIABLE = "HYDRAMIND_SCOPE"
_NAME_MAX = 256
_GIT_FILE_MAX = 16_384
_F_GETPATH = 50  # macOS: the path as the file system spells it


@dataclass(frozen=True, slots=True)
class ScopeRef:
    """A scope as it is asked for: by `name`, or by the real path of a project folder, or neither (`default`)."""

    name: str = ""
    project_root: str = ""
    source: ScopeSource = ScopeSource.DEFAULT


def resolve_scope(
    explicit: str | ScopeRef | None = None, environ: Mapping[str, str] | None = None, cwd: str | None = None
) -> ScopeRef:
    """The scope that a caller in `cwd` with `environ` means (default: this process's own).

    Raises `InvalidArgument` for a blank or over-long explicit name.
    """
    if isinstance(explicit, ScopeRef):
        return explicit
    if explicit is not None:
        return ScopeRef(name=_checked(explicit, "scope"), source=ScopeSource.EXPLICIT)
    named = (os.environ if environ is None else environ).get(VARIABLE, "")
    if named.strip():
        return ScopeRef(name=_checked(named, VARIABLE), source=ScopeSource.ENVIRONMENT)
    root = project_root(cwd)
    return ScopeRef(project_root=root, source=ScopeSource.PROJECT) if root else ScopeRef()


def project_root(cwd: str | None = None) -> str:
    """Real path of the project that `cwd` is in; empty when it is in none (or was deleted)."""
    try:
        place = _real(cwd or os.getcwd())  # noqa: PTH109 - see the top
    except OSError:
        return ""
    while True:
        marker = os.path.join(place, ".git")
        if os.path.isdir(marker):
            return place
        if os.path.isfile(marker):
            return _of_worktree(place, marker)
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above


def _of_worktree(place: str, marker: str) -> str:
    """The repository that a worktree belongs to; `place` itself for a submodule, or a `.git` file that lies.

    Without the way back anybody could write a file that opens another project's memories.
    """
    git_dir = _path_in(marker, "gitdir:", place)
    if not git_dir:
        return place
    common = _path_in(os.path.join(git_dir, "commondir"), "", git_dir)
    back = _path_in(os.path.join(git_dir, "gitdir"), "", git_dir)
    if not common or not back or os.path.realpath(back) != os.path.realpath(marker):
        return place
    if os.path.dirname(os.path.dirname(os.path.realpath(git_dir))) != os.path.realpath(common):
        return place  # a worktree's own folder is <common>/worktrees/<name>
    real = _real(common)
    return os.path.dirname(real) if os.path.basename(real) == ".git" else real


def _path_in(file: str, prefix: str, base: str) -> str:
    """Path that the first line of `file` holds after `prefix`, relative to `base`; empty when there is none."""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            line = opened.read(_GIT_FILE_MAX).split("\n", 1)[0].strip()
    except OSError:
        return ""
    path = line.removeprefix(prefix).strip() if line.startswith(prefix) else ""
    if not path or "\0" in path:
        return ""
    return os.path.normpath(os.path.join(base, path))


def _real(path: str) -> str:
    """Real path; on a file system without case, spelled as the file system spells it."""
    real = os.path.realpath(path)
    if sys.platform != "darwin":
        return real
    import fcntl  # pragma: no cover

    fd = os.open(real, os.O_RDONLY | os.O_CLOEXEC)  # pragma: no cover
    try:  # pragma: no cover
        return os.fsdecode(fcntl.fcntl(fd, _F_GETPATH, bytes(1024)).rstrip(b"\0"))
    finally:  # pragma: no cover
        os.close(fd)


def _checked(name: str, field: str) -> str:
    if not isinstance(name, str):
        raise InvalidArgument.of(field, "must be a string")
    trimmed = name.strip()
    if not trimmed:
        raise InvalidArgument.of(field, "must not be blank; leave it out to use the project's own scope")
    if len(trimmed) > _NAME_MAX:
        raise InvalidArgument.of(field, f"has {len(trimmed)} characters, at most {_NAME_MAX} are allowed")
    return trimmed
