"""Settings: precedence, provenance, and errors that say what to do."""

import tomllib
from pathlib import Path

import pytest

from hydramind import settings as st
from hydramind.settings import SettingsError, Source, load

ROOT = Path(__file__).parents[3]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def write_config(env: dict[str, str], text: str) -> Path:
    path = Path(env["XDG_CONFIG_HOME"]) / "hydramind" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_defaults_are_the_ones_that_semantics_name(env: dict[str, str]) -> None:
    found = load({}, env)
    trust = found.trust
    assert (trust.contradiction_drop, trust.hop_drop, trust.hops, trust.floor) == (0.40, 0.15, 2, 0.05)
    assert (found.recall.threshold, found.recall.limit) == (None, 10)
    assert found.origins["trust.hops"].source is Source.DEFAULT


def test_flag_beats_environment_beats_file_beats_default(env: dict[str, str]) -> None:
    path = write_config(env, '[daemon]\nidle_exit_s = 1\nbatch_max = 7\n[log]\nlevel = "error"\n')
    env |= {"HYDRAMIND_IDLE_EXIT_S": "2", "HYDRAMIND_BATCH_MAX": "8"}
    found = load({"daemon.idle_exit_s": 3.0, "daemon.drain_s": None}, env)
    assert (found.daemon.idle_exit_s, found.daemon.batch_max, found.log.level) == (3.0, 8, "error")
    assert found.daemon.drain_s == 10.0
    sources = [found.origins[n] for n in ("daemon.idle_exit_s", "daemon.batch_max", "log.level", "daemon.drain_s")]
    assert [o.source for o in sources] == [Source.FLAG, Source.ENVIRONMENT, Source.FILE, Source.DEFAULT]
    assert [o.detail for o in sources[:3]] == ["--idle-exit-s", "HYDRAMIND_BATCH_MAX", str(path)]


def test_empty_variable_is_unset(env: dict[str, str]) -> None:
    assert load({}, env | {"HYDRAMIND_RECALL_LIMIT": ""}).recall.limit == 10


@pytest.mark.parametrize(
    ("name", "variable", "bad"),
    [
        ("recall.limit", "HYDRAMIND_RECALL_LIMIT", "ten"),
        ("recall.limit", "HYDRAMIND_RECALL_LIMIT", "0"),
        ("recall.limit", "HYDRAMIND_RECALL_LIMIT", "1.5"),
        ("recall.scorer", "HYDRAMIND_RECALL_SCORER", "magic"),
        ("trust.floor", "HYDRAMIND_TRUST_FLOOR", "nan"),
        ("trust.floor", "HYDRAMIND_TRUST_FLOOR", "-0.1"),
        ("daemon.drain_s", "HYDRAMIND_DRAIN_S", "inf"),
        ("no_spawn", "HYDRAMIND_NO_SPAWN", "maybe"),
        ("scope", "HYDRAMIND_SCOPE", "a\0b"),
    ],
)
def test_value_that_is_not_allowed_names_setting_origin_and_what_is(
    env: dict[str, str], name: str, variable: str, bad: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, env | {variable: bad})
    assert (caught.value.setting, caught.value.origin, caught.value.exit_code) == (name, variable, 78)
    assert st.SPECS[name].allowed() in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[recall]\nlimit = true\n", "[recall]\nlimit = [1]\n", "[recall]\nscorer = 1\n", "[trust]\nhops = 1.5\n",
     "[recall]\nlimits = 3\n", "[recal]\nlimit = 3\n", "recall = 3\n", "not toml", '[place]\nhome = "/x"\n'],
)  # fmt: skip
def test_file_with_a_wrong_type_or_unknown_name_is_refused_naming_the_file(env: dict[str, str], text: str) -> None:
    path = write_config(env, text)
    with pytest.raises(SettingsError) as caught:
        load({}, env)
    assert str(path) in str(caught.value)


def test_misspelt_name_gets_the_right_one_suggested(env: dict[str, str]) -> None:
    write_config(env, "[recall]\nlimti = 3\n")
    with pytest.raises(SettingsError, match=r"did you mean recall\.limit"):
        load({}, env)
    with pytest.raises(SettingsError, match=r"did you mean daemon\.drain_s"):
        load({"daemon.drains": 1}, env)


def test_unknown_variable_of_ours_is_a_warning_not_an_error(env: dict[str, str]) -> None:
    found = load({}, env | {"HYDRAMIND_SCOPES": "x"})
    assert found.warnings == ("HYDRAMIND_SCOPES is not a setting; did you mean HYDRAMIND_SCOPE?",)


def test_named_file_must_exist_and_the_usual_one_need_not(env: dict[str, str], tmp_path: Path) -> None:
    assert load({}, env).file == ""
    with pytest.raises(SettingsError, match="does not exist"):
        load({}, env | {"HYDRAMIND_CONFIG": str(tmp_path / "gone.toml")})
    (tmp_path / "own.toml").write_text("[recall]\nlimit = 4\n")
    assert load({"config": str(tmp_path / "own.toml")}, env).recall.limit == 4


def test_token_is_never_shown_neither_in_rows_nor_in_errors(env: dict[str, str]) -> None:
    secret = "s3cr3t-token"
    found = load({}, env | {"HYDRAMIND_TOKEN": secret})
    rows = list(found.rows())
    assert secret not in repr(rows)
    assert {row.name: row.value for row in rows}["record.token"] == "********"
    with pytest.raises(SettingsError) as refused:
        st.refuse_missing_record(found)
    assert secret not in str(refused.value)
    with pytest.raises(SettingsError) as bad:
        load({}, env | {"HYDRAMIND_TOKEN": secret + "\0"})
    assert secret not in str(bad.value)


@pytest.mark.parametrize("variable", ["HYDRAMIND_URI", "HYDRAMIND_TOKEN"])
def test_graph_database_is_refused_and_not_silently_ignored(env: dict[str, str], variable: str) -> None:
    with pytest.raises(SettingsError, match="only the embedded record") as caught:
        st.refuse_missing_record(load({}, env | {variable: "bolt://x"}))
    assert caught.value.origin == variable


def test_user_name_and_database_alone_change_nothing(env: dict[str, str]) -> None:
    st.refuse_missing_record(load({}, env | {"HYDRAMIND_USERNAME": "u", "HYDRAMIND_DATABASE": "d"}))


def test_only_settings_that_a_running_daemon_cannot_take_over_need_a_restart(env: dict[str, str]) -> None:
    old = load({}, env)
    new = load({}, env | {"HYDRAMIND_READERS": "9", "HYDRAMIND_TRUST_FLOOR": "0.1"})
    assert st.changed_needing_restart(old, new) == ("daemon.readers",)


def test_rendered_files_name_every_setting_and_hold_nothing_but_comments(env: dict[str, str]) -> None:
    example, toml, table = st.render_env_example(), st.render_toml_example(), st.render_markdown()
    for spec in st.SPECS.values():
        assert f"#{spec.env}=" in example
        assert f"`{spec.env}`" in table
        assert not spec.in_file or f"#{spec.name.split('.')[1]} = " in toml
    assert all(not line or line.startswith("#") for line in example.splitlines())
    uncommented = "\n".join(line.removeprefix("#") for line in toml.splitlines() if not line.startswith("# "))
    write_config(env, uncommented)
    assert load({}, env).trust == load({}, {"HOME": "/nowhere"}).trust
    assert tomllib.loads(toml) == {"trust": {}, "recall": {}, "record": {}, "daemon": {}, "log": {}}


def test_documentation_has_the_table_as_rendered() -> None:
    assert st.render_markdown() in (ROOT / "docs" / "ops" / "settings.md").read_text()


def test_env_example_in_the_root_names_every_variable() -> None:
    path = ROOT / ".env.example"
    assert path.exists(), "write it with hydramind.settings.render_env_example()"
    text = path.read_text()
    assert [spec.env for spec in st.SPECS.values() if spec.env not in text] == []
