"""Who may import whom. The rules inside the project are import-linter contracts in pyproject.toml."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.arch.sources import PACKAGES, ROOT, imports, imports_of, is_standard_library, module_name, python_files, tree, where

# What a package may import besides the standard library and itself.
GRPC = {"grpc", "google", "grpc_status", "grpc_health", "grpc_reflection"}
ALLOWED = {
    "hydramind": {"grpc", "google"},
    "hydramind_domain": {"Stemmer"},
    "hydramind_daemon": {"hydramind", "hydramind_domain", "apsw", "structlog", "uvloop", *GRPC},
    "hydramind_client": {"hydramind", *GRPC},
    "hydramind_cli": {"hydramind", "hydramind_client", "hydramind_mcp", "click", "rich"},
    "hydramind_mcp": {"hydramind", "hydramind_client", "mcp", "mcp_types", "anyio", "pydantic", "structlog", "uvloop"},
}
# Time, chance, processes and files reach the rules as arguments, so that an answer depends on nothing else.
IMPURE_MODULES = {
    "asyncio", "concurrent", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "select",
    "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "now", "utcnow", "today"}


def foreign_imports(package: str) -> list[str]:
    own = {package, *ALLOWED[package]}
    return [
        f"{where(path, found.line)} imports {found.module}"
        for path in python_files(PACKAGES[package])
        for found in imports_of(path, package)
        if found.top not in own and not is_standard_library(found.top)
    ]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_imports_only_what_its_place_allows(package: str):
    assert foreign_imports(package) == []


def test_every_imported_package_is_a_declared_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    providers = packages_distributions()
    used = {i.top for name, folder in PACKAGES.items() for path in python_files(folder) for i in imports_of(path, name)}
    foreign = {top for top in used - set(PACKAGES) if not is_standard_library(top)}
    assert {top for top in foreign if not declared & {canonicalize_name(d) for d in providers.get(top, [])}} == set()


def test_the_layers_of_pyproject_hold():
    code = "from importlinter.cli import lint_imports_command as run; run()"
    done = subprocess.run([sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_domain_reaches_for_no_clock_no_chance_and_no_file():
    offences = []
    for path in python_files(PACKAGES["hydramind_domain"]):
        offences += [where(path, i.line) for i in imports_of(path, "hydramind_domain") if i.top in IMPURE_MODULES]
        offences += [where(path, line) for line in impure_calls(tree(path))]
        offences += [where(path, n.lineno) for n in ast.walk(tree(path)) if isinstance(n, ast.AsyncFunctionDef)]
    assert offences == []


def impure_calls(source: ast.Module) -> list[int]:
    called = [node for node in ast.walk(source) if isinstance(node, ast.Call)]
    names = {ast.Name: lambda f: f.id, ast.Attribute: lambda f: f.attr}
    return [c.lineno for c in called if type(c.func) in names and names[type(c.func)](c.func) in IMPURE_CALLS]


def module_file(module: str) -> tuple[Path, str] | None:
    package = module.partition(".")[0]
    if package not in PACKAGES:
        return None
    base = PACKAGES[package].parent.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.exists():
            return path, package
    return None


def reachable(start: str) -> dict[Path, str]:
    """Files of the project that importing `start` may load, parents of packages included."""
    seen: dict[Path, str] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        parent = module.rpartition(".")[0]
        waiting += [parent] if parent else []
        found = module_file(module)
        if found is None or found[0] in seen:
            continue
        path, package = found
        seen[path] = package
        waiting += [i.module for i in imports_of(path, package)]
        waiting += submodules(path, package)
    return seen


def submodules(path: Path, package: str) -> list[str]:
    """`from package import name` may mean a module of that name."""
    own = module_name(path, package)
    nodes = [n for n in ast.walk(tree(path)) if isinstance(n, ast.ImportFrom)]
    return [
        f"{i.module}.{alias.name}"
        for node in nodes
        for i in imports(ast.Module([node], []), own, is_package=path.name == "__init__.py")
        for alias in node.names
    ]


def test_the_mcp_shim_loads_nothing_but_the_standard_library():
    assert module_file("hydramind_mcp.shim"), "there is no module hydramind_mcp.shim"
    files = reachable("hydramind_mcp.shim")
    offences = [
        f"{where(path, found.line)} imports {found.module}"
        for path, package in files.items()
        for found in imports_of(path, package)
        if found.top not in PACKAGES and not is_standard_library(found.top)
    ]
    assert offences == []


def test_an_import_that_hides_in_a_function_is_found():
    source = ast.parse("def f():\n    import grpc\n    from ..rpc import server\n    from . import ports\n")
    assert [i.module for i in imports(source, "hydramind_daemon.services.remember")] == [
        "grpc",
        "hydramind_daemon.rpc",
        "hydramind_daemon.services",
    ]


def test_a_call_of_the_clock_is_found():
    assert impure_calls(ast.parse("x = datetime.now(UTC)\ny = later(3)\n")) == [1]
