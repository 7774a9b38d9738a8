"""Which scope a caller means: explicit, environment, project, default."""

from pathlib import Path

import pytest

from hydramind_client import InvalidArgument
from hydramind_client.model import ScopeSource
from hydramind_client.scope import ScopeRef, project_root, resolve_scope


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def worktree(of: Path, place: Path, name: str = "w1", *, common: str = "../..", back: str = "") -> Path:
    """Files as `git worktree add` writes them."""
    inside = of / "worktrees" / name
    inside.mkdir(parents=True)
    place.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {inside}\n")
    (inside / "commondir").write_text(f"{common}\n")
    (inside / "gitdir").write_text((back or str(place / ".git")) + "\n")
    return place


def test_an_explicit_name_wins_over_everything(tmp_path: Path):
    found = resolve_scope("  acme ", {"HYDRAMIND_SCOPE": "other"}, str(repository(tmp_path / "p")))
    assert found == ScopeRef(name="acme", source=ScopeSource.EXPLICIT)


def test_the_environment_wins_over_the_project(tmp_path: Path):
    found = resolve_scope(None, {"HYDRAMIND_SCOPE": "team"}, str(repository(tmp_path / "p")))
    assert found == ScopeRef(name="team", source=ScopeSource.ENVIRONMENT)


def test_a_blank_variable_is_no_variable(tmp_path: Path):
    assert resolve_scope(None, {"HYDRAMIND_SCOPE": " "}, str(tmp_path)).source is ScopeSource.DEFAULT


def test_a_sub_folder_belongs_to_its_project(tmp_path: Path):
    inner = repository(tmp_path / "p") / "src" / "deep"
    inner.mkdir(parents=True)
    found = resolve_scope(None, {}, str(inner))
    assert found == ScopeRef(project_root=str(tmp_path / "p"), source=ScopeSource.PROJECT)


def test_a_project_is_one_through_a_symlink(tmp_path: Path):
    real = repository(tmp_path / "p")
    (tmp_path / "link").symlink_to(real)
    assert project_root(str(tmp_path / "link")) == project_root(str(real)) == str(real)


def test_worktrees_are_one_project_with_their_repository(tmp_path: Path):
    main = repository(tmp_path / "p")
    place = worktree(main / ".git", tmp_path / "elsewhere")
    assert project_root(str(place)) == str(main)


def test_a_worktree_with_relative_paths_is_found(tmp_path: Path):
    main = repository(tmp_path / "p")
    place = worktree(main / ".git", tmp_path / "elsewhere", back="../../../../elsewhere/.git")
    (place / ".git").write_text("gitdir: ../p/.git/worktrees/w1\n")
    assert project_root(str(place)) == str(main)


def test_the_worktrees_of_a_bare_repository_are_the_repository(tmp_path: Path):
    bare = tmp_path / "p.git"
    bare.mkdir()
    assert project_root(str(worktree(bare, tmp_path / "w"))) == str(bare)


def test_a_git_file_that_lies_opens_nobody_elses_project(tmp_path: Path):
    main = repository(tmp_path / "p")
    worktree(main / ".git", tmp_path / "honest")
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text(f"gitdir: {main}/.git/worktrees/w1\n")
    assert project_root(str(thief)) == str(thief)


def test_a_forged_git_folder_cannot_name_another_repository(tmp_path: Path):
    main = repository(tmp_path / "p")
    thief = tmp_path / "thief"
    forged = tmp_path / "forged"
    forged.mkdir()
    thief.mkdir()
    (thief / ".git").write_text(f"gitdir: {forged}\n")
    (forged / "commondir").write_text(f"{main}/.git\n")
    (forged / "gitdir").write_text(f"{thief}/.git\n")
    assert project_root(str(thief)) == str(thief)


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path):
    main = repository(tmp_path / "p")
    (main / ".git" / "modules" / "sub").mkdir(parents=True)
    sub = main / "sub"
    sub.mkdir()
    (sub / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert project_root(str(sub)) == str(sub)


@pytest.mark.parametrize("text", ["", "gitdir:", "nonsense", "gitdir: /nowhere", "gitdir: a\0b", "\xff\xfe"])
def test_a_damaged_git_file_means_its_own_folder(tmp_path: Path, text: str):
    (tmp_path / ".git").write_text(text, encoding="latin-1")
    assert project_root(str(tmp_path)) == str(tmp_path)


def test_outside_of_any_project_the_scope_is_the_default(tmp_path: Path):
    assert resolve_scope(None, {}, str(tmp_path)) == ScopeRef()


def test_a_folder_that_was_deleted_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert resolve_scope(None, {}) == ScopeRef()


@pytest.mark.parametrize("name", ["", "  ", "x" * 257])
def test_a_blank_or_over_long_name_is_refused(name: str):
    with pytest.raises(InvalidArgument) as caught:
        resolve_scope(name)
    assert caught.value.field == "scope"
