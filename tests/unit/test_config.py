"""One mistake, one line that names the key and what to do; what is written can be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jumok.architectures import TransformerConfig
from jumok.comparison.config import is_comparison
from jumok.config import Config, dump_toml, load_config, parse_config
from jumok.errors import ConfigError
from jumok.recipes import recipe

RECIPES = [
    path
    for path in sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.toml"))
    if not is_comparison(path)  # those are read by load_comparison
]
MINIMAL = """
name = "x"
[data]
source = "ko"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
"""


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("x.toml")
    path.write_text(MINIMAL)
    return path


def values(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "name": "x",
        "data": {"source": "ko", "target": "en", "train": "train.tsv", "valid": "valid.tsv"},
    }
    for section, settings_ in changes.items():
        base[section] = {**base.get(section, {}), **settings_} if isinstance(settings_, dict) else settings_
    return base


def explain(changes: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(changes, where="x.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": {"max_step": 1}}, "x.toml: [training] max_step is not a known key; did you mean max_steps?"),
        ({"model": {"heads": 8}}, "x.toml: [model] heads is not a known key; did you mean num_heads?"),
        ({"trainning": {"max_steps": 1}}, "x.toml: trainning is not a known key; did you mean training?"),
        (
            {"decoding": {"zzzz": 1}},
            "x.toml: [decoding] zzzz is not a known key; known keys: beam, patience, length_penalty, "
            "coverage_penalty, no_repeat_ngram, min_length, replace_unknown, max_extra_length, batch_tokens",
        ),
        (
            {"training": {"max_steps": "many"}},
            "x.toml: [training] max_steps = 'many': input should be a valid integer, unable to parse string as an "
            "integer",
        ),
        (
            {"training": {"max_steps": 1.5}},
            "x.toml: [training] max_steps = 1.5: input should be a valid integer, got a number with a fractional part",
        ),
        (
            {"training": {"max_steps": 0}},
            "x.toml: [training] max_steps = 0: input should be greater than or equal to 1",
        ),
        (
            {"training": {"learning_rate": float("inf")}},
            "x.toml: [training] learning_rate = inf: input should be a finite number",
        ),
        (
            {"training": {"adam_betas": [0.9, 1.0]}},
            "x.toml: [training] adam_betas = 1.0: input should be less than 1",
        ),
        ({"training": {"adam_betas": [0.9]}}, "x.toml: [training] adam_betas = [0.9]: expected 2 values"),
        (
            {"tokenizer": {"kind": "bep"}},
            "x.toml: [tokenizer] kind = 'bep': input should be 'bpe', 'unigram' or 'word'",
        ),
        (
            {"model": {"preset": "huge"}},
            "x.toml: [model] preset = 'huge': input should be 'tiny', 'small', 'base' or 'big'",
        ),
        (
            {"model": {"preset": ["tiny"]}},
            "x.toml: [model] preset = ['tiny']: input should be 'tiny', 'small', 'base' or 'big'",
        ),
        ({"model": 5}, "x.toml: model = 5: expected a section, [model]"),
        ({"data": {"train": 5}}, "x.toml: [data] train: expected a file name, or a list of two"),
        ({"data": {"test": [1, 2]}}, "x.toml: [data] test: expected a file name, or a list of two"),
        (
            {"model": {"num_heads": 7}},
            "x.toml: [model] num_heads = 7 does not divide d_model = 512; use one of 1, 2, 4, 8, 16, 32, 64",
        ),
        (
            {"model": {"d_model": 7, "num_heads": 1}},
            "x.toml: [model] d_model = 7 is odd; sines and cosines come in pairs, use an even number",
        ),
    ],
)
def test_mistake_is_explained_in_one_line(changes: dict[str, Any], message: str) -> None:
    assert explain(values(**changes)) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokenizer": {"kind": "word", "sampling": 0.1}}, "tokenizer.sampling = 0.1 cuts pieces"),
        (
            {"decoding": {"replace_unknown": True}, "model": {"architecture": "seq2seq"}},
            "decoding.replace_unknown needs attention to the source, which seq2seq does not have",
        ),
        (
            {"training": {"objective": "reinforced"}, "distributed": {"shard": True}},
            "training.objective = reinforced draws translations of its own and cannot be sharded",
        ),
        (
            {"model": {"architecture": "seq2sec"}},
            '[model] architecture = "seq2sec" is not known; did you mean seq2seq?',
        ),
        (
            {"model": {"architecture": "gnmt", "num_heads": 8}},
            "[model] num_heads is not a known key of the architecture gnmt",
        ),
        (
            {"model": {"architecture": "gnmt", "decoder_layer": 8}},
            "[model] decoder_layer is not a known key of the architecture gnmt; did you mean decoder_layers?",
        ),
    ],
)
def test_mistake_about_architectures_is_explained_in_one_line(changes: dict[str, Any], message: str) -> None:
    explained = explain(values(**changes))
    assert message in explained and len(explained.splitlines()) == 1


@pytest.mark.parametrize("name", ["", "a/b", "..", ".", ".hidden", "a b", "../x", "x\n"])
def test_name_that_would_leave_its_folder_is_refused(name: str) -> None:
    assert explain(values(name=name)).startswith(f"x.toml: name = {name!r}: string should match pattern")


def test_missing_key_is_described() -> None:
    broken = values()
    del broken["data"]["target"]
    assert explain(broken) == "x.toml: [data] target is missing; Language to translate into."


def test_several_mistakes_are_a_line_each() -> None:
    broken = values(training={"max_step": 1, "seed": -1})
    assert len(explain(broken).splitlines()) == 2


def test_heads_are_checked_after_the_preset() -> None:
    assert explain(values(model={"preset": "tiny", "num_heads": 3})) == (
        "x.toml: [model] num_heads = 3 does not divide d_model = 128; use one of 1, 2, 4, 8, 16, 32, 64"
    )


def test_preset_fills_in_what_is_not_given() -> None:
    model = parse_config(values(model={"preset": "tiny", "d_ff": 99})).model
    assert (model.d_model, model.d_ff, model.num_heads, model.encoder_layers, model.norm) == (128, 99, 4, 2, "pre")


# --- files ---


def test_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="^nope.toml: no such file; `recipes/` holds complete examples$"):
        load_config("nope.toml")


def test_directory(tmp_path: Path) -> None:
    message = f"{tmp_path}: is a directory; give the TOML file of a run"
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        load_config(tmp_path)


def test_path_below_a_file(config_file: Path) -> None:
    with pytest.raises(ConfigError, match="^x.toml/y: cannot be read: Not a directory$"):
        load_config(config_file / "y")


def test_not_utf8(config_file: Path) -> None:
    config_file.write_bytes(b'name = "\xff"\n')
    with pytest.raises(ConfigError, match="^x.toml: not UTF-8 at byte 8; save it as UTF-8$"):
        load_config(config_file)


def test_byte_order_mark_is_accepted(config_file: Path) -> None:
    config_file.write_text("\ufeff" + MINIMAL)
    assert load_config(config_file).name == "x"


def test_toml_mistake_names_the_line(config_file: Path) -> None:
    config_file.write_text("name = x\n")
    with pytest.raises(ConfigError, match=r"^x\.toml: not TOML: Invalid value \(at line 1, column 8\)$"):
        load_config(config_file)


# --- --set ---


@pytest.mark.parametrize(
    ("setting", "section", "key", "value"),
    [
        ("training.max_steps=120", "training", "max_steps", 120),
        ("training.max_steps=1_000", "training", "max_steps", 1000),
        ("training.learning_rate=2.5e-3", "training", "learning_rate", 2.5e-3),
        (" training.seed = 7", "training", "seed", 7),
        ("model.preset=tiny", "model", "d_model", 128),
        ('tokenizer.kind="unigram"', "tokenizer", "kind", "unigram"),
        ("data.keep_duplicates=true", "data", "keep_duplicates", True),
        ('data.train=["a.ko", "a.en"]', "data", "train", ["a.ko", "a.en"]),
        ("data.folder=/some where/else", "data", "folder", "/some where/else"),
        ("data.test=a=b.tsv", "data", "test", "a=b.tsv"),
    ],
)
def test_setting_goes_over_the_file(config_file: Path, setting: str, section: str, key: str, value: Any) -> None:
    assert getattr(getattr(load_config(config_file, [setting]), section), key) == value


def test_later_setting_wins_and_name_can_be_set(config_file: Path) -> None:
    config = load_config(config_file, ["training.seed=1", "training.seed=2", "name=y"])
    assert (config.training.seed, config.name) == (2, "y")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.max_steps", "--set training.max_steps: expected section.key=value, such as training.max_steps=120"),
        ("=5", "--set =5: expected section.key=value, such as training.max_steps=120"),
        ("name.x=1", "--set name.x=1: name is not a section"),
        ("max_steps=5", "x.toml: max_steps is not a known key; known keys: name, data, tokenizer, model, training, "),
        ("training.max_stesp=5", "x.toml: [training] max_stesp is not a known key; did you mean max_steps?"),
        ("training.max_steps=", "x.toml: [training] max_steps = '': input should be a valid integer"),
    ],
)
def test_bad_setting_is_explained(config_file: Path, setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}"):
        load_config(config_file, [setting])


# --- writing ---

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@settings(deadline=None)
@given(
    folder=TEXT,
    files=st.lists(TEXT, min_size=2, max_size=2),
    rate=st.none() | st.floats(1e-300, 1e300),
    beta=st.floats(0, 1, exclude_max=True),
    seed=st.integers(0, 2**63 - 1),
    joint=st.booleans(),
    test=st.none() | TEXT,
)
def test_what_is_written_reads_back_the_same(
    folder: str, files: list[str], rate: float | None, beta: float, seed: int, joint: bool, test: str | None
) -> None:
    import tomllib

    config = parse_config(
        values(
            data={"folder": folder, "train": files, "test": test},
            training={"learning_rate": rate, "adam_betas": [beta, 0.5], "seed": seed},
            tokenizer={"joint": joint},
            model={"tie_embeddings": "none"},
        )
    )
    assert parse_config(tomllib.loads(dump_toml(config))) == config


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb", "a\tb", "\x00\x1b\x7f", "é 한 😀", "C:\\new\\table", "\u2028"])
def test_awkward_strings_read_back_the_same(tmp_path: Path, text: str) -> None:
    config = parse_config(values(data={"train": [text, "b"], "folder": str(tmp_path)}))
    (tmp_path / "config.toml").write_bytes(dump_toml(config).encode())
    assert load_config(tmp_path / "config.toml") == config


def test_data_folder_is_made_absolute_so_that_a_run_finds_its_data_from_anywhere(
    config_file: Path, tmp_path: Path
) -> None:
    assert load_config(config_file).data.folder == str(tmp_path.resolve())
    assert load_config(config_file, ["data.folder=deep/er"]).data.folder == str(tmp_path.resolve() / "deep" / "er")


def test_every_default_is_written_out() -> None:
    text = dump_toml(parse_config(values()))
    for section in ("data", "tokenizer", "model", "training", "decoding"):
        model = TransformerConfig if section == "model" else Config.model_fields[section].annotation
        assert model is not None
        for key, field in model.model_fields.items():
            assert field.default is None or re.search(rf"^{key} = ", text, re.MULTILINE), key


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_recipe_parses_and_resolves(path: Path) -> None:
    config = load_config(path)
    assert config.name == path.stem
    assert recipe(path.stem).read_bytes() == path.read_bytes()


def test_recipes_were_found() -> None:
    assert {"demo", "multi30k-de-en"} <= {path.stem for path in RECIPES}


def test_unknown_recipe_is_named() -> None:
    with pytest.raises(ConfigError, match="^the recipe nope is not installed with jumok$"):
        recipe("nope")
