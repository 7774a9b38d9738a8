"""Each RPC has a servicer, a method on both clients, and a shell command; or a reason in rpc_reasons.toml why not."""

import importlib
import inspect
import keyword
import pkgutil
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import pytest

import hydramind.v1
from tests.arch.sources import ROOT

REASONS_FILE = ROOT / "tests/arch/rpc_reasons.toml"
REASONS: dict[str, dict[str, str]] = tomllib.loads(REASONS_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Rpc:
    """One method of one service."""

    service: str
    name: str

    @property
    def python_name(self) -> str:
        """Of the client's method; a keyword gets an underscore, as everywhere in Python."""
        name = snake(self.name)
        return name + "_" if keyword.iskeyword(name) else name

    @property
    def shell_name(self) -> str:
        return snake(self.name).replace("_", "-")


def snake(name: str) -> str:
    """`RememberBatch` → `remember_batch`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def modules_of(package: ModuleType, suffix: str = "") -> list[ModuleType]:
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [importlib.import_module(info.name) for info in found if info.name.endswith(suffix)]


def rpcs() -> list[Rpc]:
    files = [module.DESCRIPTOR for module in modules_of(hydramind.v1, "_pb2")]
    services = [service for file in files for service in file.services_by_name.values()]
    return [Rpc(service.name, method.name) for service in services for method in service.methods]


RPCS = rpcs()


def reason(kind: str, rpc: Rpc) -> str:
    return REASONS.get(kind, {}).get(rpc.name, "")


def servicer_bases() -> Mapping[str, type]:
    modules = modules_of(hydramind.v1, "_pb2_grpc")
    return {name: value for m in modules for name, value in inspect.getmembers(m, inspect.isclass) if name.endswith("Servicer")}


def implementations(base: type) -> set[type]:
    return {cls for child in base.__subclasses__() for cls in {child, *implementations(child)}}


@pytest.fixture(scope="module")
def servicers() -> Mapping[str, type]:
    modules_of(importlib.import_module("hydramind_daemon.rpc"))
    return servicer_bases()


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_the_daemon_implements_the_rpc(rpc: Rpc, servicers: Mapping[str, type]):
    base = servicers[rpc.service + "Servicer"]
    ours = [cls for cls in implementations(base) if cls.__module__.startswith("hydramind_daemon.rpc")]
    assert any(getattr(cls, rpc.name) is not getattr(base, rpc.name) for cls in ours)


@pytest.mark.parametrize("client", ["Client", "AsyncClient"])
@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_the_client_has_a_documented_method_for_the_rpc(rpc: Rpc, client: str):
    if reason("no_client", rpc):
        pytest.skip(reason("no_client", rpc))
    cls = getattr(importlib.import_module("hydramind_client"), client)
    method = getattr(cls, rpc.python_name, None)
    assert callable(method)
    assert inspect.getdoc(method)


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_the_shell_has_a_command_for_the_rpc_or_a_reason_why_not(rpc: Rpc):
    if reason("no_shell", rpc):
        pytest.skip(reason("no_shell", rpc))
    path = REASONS["shell"].get(rpc.name, rpc.shell_name)
    assert shell_command(path.split()) is not None, f"there is no `hydramind {path}`"


def shell_command(path: list[str]) -> object | None:
    import click

    command: click.Command | None = importlib.import_module("hydramind_cli.app").cli
    for word in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    return command


def test_reasons_are_sentences_about_rpcs_that_exist():
    names = {rpc.name for rpc in RPCS}
    assert set(REASONS) <= {"shell", "no_shell", "no_client"}
    assert {name for entries in REASONS.values() for name in entries} <= names
    given = [text for kind in ("no_shell", "no_client") for text in REASONS.get(kind, {}).values()]
    assert all(len(text.split()) >= 5 and text.endswith(".") for text in given)


def test_nothing_has_both_a_command_and_a_reason_for_having_none():
    assert not REASONS["shell"].keys() & REASONS["no_shell"].keys()


def test_names_are_translated_word_by_word():
    assert [snake(name) for name in ("RememberBatch", "GetServerInfo", "Watch")] == ["remember_batch", "get_server_info", "watch"]
