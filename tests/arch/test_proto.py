"""The contract: documented, linted, its stubs fresh, and never broken after a release."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from tests.arch.sources import ROOT

PROTO = ROOT / "proto"
IMAGE = ROOT / "tests/contract/hydramind_v1.binpb"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_stubs", PROTO / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def buf(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program = Path(sysconfig.get_path("scripts")) / "buf"
    return subprocess.run([str(program), *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_committed_stubs_are_what_the_proto_files_generate(tmp_path: Path):
    generate = generator()
    generate.generate(tmp_path)
    fresh, committed = set(generate.stub_files(tmp_path)), set(generate.stub_files(PROTO))
    assert fresh == committed, "run `make proto`"
    stale = [str(path) for path in sorted(fresh) if (tmp_path / path).read_bytes() != (PROTO / path).read_bytes()]
    assert stale == [], "run `make proto`"


def test_every_message_field_and_rpc_is_documented_and_named_by_the_rules():
    done = buf("lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_refuses_a_field_without_a_comment(tmp_path: Path):
    write_module(tmp_path, "// A message.\nmessage M {\n  string bare = 1;\n}\n")
    assert "bare" in buf("lint", cwd=tmp_path).stdout


@pytest.mark.skipif(not IMAGE.exists(), reason="no contract has been frozen yet (`make proto-image`)")
def test_no_change_breaks_the_frozen_contract():
    done = buf("breaking", "--against", str(IMAGE))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_field_number_breaks_a_contract(tmp_path: Path):
    write_module(tmp_path, "// A message.\nmessage M {\n  // A field.\n  string f = 1;\n}\n")
    assert buf("build", "-o", "old.binpb", cwd=tmp_path).returncode == 0
    write_module(tmp_path, "// A message.\nmessage M {\n  // A field.\n  string f = 2;\n}\n")
    assert buf("breaking", "--against", "old.binpb", cwd=tmp_path).returncode != 0


def write_module(folder: Path, body: str) -> None:
    (folder / "buf.yaml").write_bytes((ROOT / "buf.yaml").read_bytes())
    target = folder / "proto/hydramind/v1/sample.proto"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'// A file.\nsyntax = "proto3";\n\npackage hydramind.v1;\n\n{body}', encoding="utf-8")
