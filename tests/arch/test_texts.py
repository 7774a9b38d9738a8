"""What no file of the project may name, and what the documents must say."""

import re
import tomllib
from pathlib import Path

import pytest

from hydramind import local, settings
from tests.arch.sources import ROOT, text_files, where

# Written in pieces, so that this file does not accuse itself. Four user names are nobody's: examples may use them.
DEVELOPER_PATH = re.compile("/(?:home|Us" + r"ers)/(?!user/|you/|runner/|ada/)\w+/|(?<![\w.~$}])/(?:ro" + r"ot|wo" + r"rk)/\w")
INDEX_HOST = re.compile("|".join(("pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.(?:com|org)", "crates" + r"\.io")))
UNFINISHED = re.compile(r"\b(?:TO" + "DO|FIX" + "ME|X" + r"XX)\b")
FOREIGN = re.compile(r"WordNet|LICENSE-|\.tsv$")  # other people's texts, kept as they are


def offences(pattern: re.Pattern[str], *, skip: tuple[str, ...] = ()) -> list[str]:
    found = []
    for path, text in text_files():
        if path.suffix in skip or FOREIGN.search(path.name):
            continue
        found += [where(path, number) for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    return found


def test_no_file_names_a_folder_of_somebodys_machine():
    assert offences(DEVELOPER_PATH) == []


def test_no_file_names_the_host_of_a_package_index():
    assert offences(INDEX_HOST) == []


def test_nothing_is_left_for_later():
    assert offences(UNFINISHED) == []


@pytest.mark.parametrize("text", ["/home/" + "ann/src/x", "/Users/" + "ann/x", "cd /ro" + "ot/x", "'/wo" + "rk/main'"])
def test_a_developers_path_is_found(text: str):
    assert DEVELOPER_PATH.search(text)


@pytest.mark.parametrize("text", ["~/.config/x", "/home/user/x", "src/work/x", "the/root/x", "/workers/x", "/tmp/x"])
def test_other_paths_are_not(text: str):
    assert not DEVELOPER_PATH.search(text)


def test_the_example_of_the_environment_lists_every_setting():
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == settings.render_env_example()


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == local.VERSION
    assert f"## [{local.VERSION}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def markdown_links(path: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]


def test_links_between_documents_lead_somewhere():
    documents = [path for path, _ in text_files() if path.suffix == ".md"]
    broken = [
        f"{where(path)}: {link}"
        for path in documents
        for link in markdown_links(path)
        if link.partition("#")[0] and not (path.parent / link.partition("#")[0]).exists()
    ]
    assert broken == []


def test_every_make_target_that_a_document_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {
        (where(path), target)
        for path, text in text_files()
        if path.suffix in {".md", ".py", ".toml"}
        for target in re.findall(r"`make ([a-z][a-z-]*)[` ]", text)
    }
    assert named, "no document names a target"
    assert [f"{place}: make {target}" for place, target in sorted(named) if target not in targets] == []


def test_the_two_commands_of_the_readme_are_all_the_set_up():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:sh|shell|bash|console)\n(.*?)```", readme, re.DOTALL)
    commands = [line.split("#")[0].strip().removeprefix("$ ") for line in blocks[0].splitlines() if line.strip()]
    assert commands == ["make demo", "make test"]
