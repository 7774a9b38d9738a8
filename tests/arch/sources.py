"""What the architecture tests read: the project's own source, as files and as syntax trees."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "hydramind": ROOT / "proto/hydramind",
    "hydramind_domain": ROOT / "daemon/hydramind_domain",
    "hydramind_daemon": ROOT / "daemon/hydramind_daemon",
    "hydramind_client": ROOT / "clients/hydramind_client",
    "hydramind_cli": ROOT / "clients/hydramind_cli",
    "hydramind_mcp": ROOT / "mcp_frontend/hydramind_mcp",
}
FOLDERS = ("proto", "daemon", "clients", "mcp_frontend", "tests", "benchmarks", "examples", "tools")


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement: the absolute name of the module and the line it stands on."""

    module: str
    line: int

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def is_generated(path: Path) -> bool:
    return "_pb2" in path.name


def python_files(folder: Path) -> Iterator[Path]:
    """Hand-written Python files below a folder."""
    for path in sorted(folder.rglob("*.py")):
        if not is_generated(path) and "__pycache__" not in path.parts:
            yield path


def all_python_files() -> list[Path]:
    return [path for name in FOLDERS for path in python_files(ROOT / name)]


def module_name(path: Path, package: str) -> str:
    parts = path.relative_to(PACKAGES[package].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(source: ast.Module, module: str, *, is_package: bool = False) -> list[Import]:
    """Every import of a module, lazy ones included, relative ones made absolute."""
    found: list[Import] = []
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(Import(_absolute(node, module, is_package=is_package), node.lineno))
    return found


def _absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    above = module.split(".")
    keep = len(above) - node.level + (1 if is_package else 0)
    return ".".join([*above[:keep], *([node.module] if node.module else [])])


def imports_of(path: Path, package: str) -> list[Import]:
    return imports(tree(path), module_name(path, package), is_package=path.name == "__init__.py")


def is_standard_library(top: str) -> bool:
    return top in sys.stdlib_module_names or top in {"__future__", "_typeshed"}  # the latter exists for type checkers only


def tracked_files() -> list[Path]:
    """Files of the project: what git tracks or would, or everything in an unpacked source archive."""
    if not (ROOT / ".git").exists():
        skipped = {".venv", "build", "dist", "__pycache__"}
        return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def text_files() -> Iterator[tuple[Path, str]]:
    """Tracked files that are text, with their text."""
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            yield path, data.decode("utf-8", errors="replace")


def where(path: Path, line: int = 0) -> str:
    place = path.relative_to(ROOT).as_posix()
    return f"{place}:{line}" if line else place
