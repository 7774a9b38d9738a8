"""Write the Python stubs of every .proto file beside it.

    python proto/generate.py              # what `make proto` runs
    python proto/generate.py --out DIR    # the same tree elsewhere; the tests compare it with what is committed

The compiler and its plugins are pinned exactly in pyproject.toml, so the output depends on the .proto files alone.
"""

import argparse
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUFFIXES = ("_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb2_grpc.pyi")
PLUGINS = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")


class GenerateError(RuntimeError):
    """The compiler or a plugin is missing or refused the input; the message says which."""


def proto_files() -> list[Path]:
    """Every .proto file of the project, relative to this folder."""
    return sorted(path.relative_to(HERE) for path in HERE.rglob("*.proto"))


def stub_files(root: Path) -> Iterator[Path]:
    """Every generated file under `root`, relative to it."""
    for path in sorted(root.rglob("*_pb2*.py*")):
        if path.name.endswith(SUFFIXES):
            yield path.relative_to(root)


def generate(out: Path) -> None:
    """Write all stubs under `out`, in the folders of their .proto files.

    Raises `GenerateError` with the compiler's own words when it fails.
    """
    sources = [str(path) for path in proto_files()]
    if not sources:
        raise GenerateError(f"there is no .proto file under {HERE}")
    with as_file(files("grpc_tools") / "_proto") as well_known:
        done = subprocess.run(  # noqa: S603 - our own interpreter, our own files
            [*_compiler(out), f"-I{HERE}", f"-I{well_known}", *sources], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise GenerateError(done.stderr.strip())


def _compiler(out: Path) -> list[str]:
    outputs = [f"--{kind}_out={out}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    return [sys.executable, "-m", "grpc_tools.protoc", *map(_plugin, PLUGINS), *outputs]


def _plugin(name: str) -> str:
    path = Path(sysconfig.get_path("scripts")) / name
    if not path.exists():
        raise GenerateError(f"{path} is missing: run `make bootstrap`")
    return f"--plugin={name}={path}"


def _drop_orphans(out: Path) -> None:
    """Remove stubs whose .proto file is gone."""
    stems = {str(path.with_suffix("")) for path in proto_files()}
    for path in stub_files(out):
        if str(path).partition("_pb2")[0] not in stems:
            (out / path).unlink()


def main() -> int:
    """Command line; 0 when every stub was written."""
    parser = argparse.ArgumentParser(description="Write the Python stubs of every .proto file.")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to (default: beside the .proto files)")
    out = parser.parse_args().out.resolve()
    try:
        generate(out)
    except GenerateError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _drop_orphans(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
