"""What is compared: shared sections, what goes over them, and one line for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from jumok.comparison.config import ComparisonConfig, in_order_of_need, is_comparison, load_comparison
from jumok.errors import ConfigError

HEAD = """
name = "x"
[data]
source = "ko"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
[model]
preset = "tiny"
dropout = 0.3
num_heads = 2
[training]
learning_rate = 1e-3
"""
COMPARE = """
[compare]
systems = ["lstm", "gnmt", "gnmt-rl", "transformer", "big", "wide", "both"]
budget = "tokens"
amount = 5000
[systems.big]
base = "transformer-big"
title = "As in the paper"
[systems.wide]
note = "Wider inside."
model.d_ff = 999
training.seed = 7
[systems.both]
ensemble = ["transformer", "wide"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(text: str, *settings: str) -> ComparisonConfig:
    Path("x.toml").write_text(text, encoding="utf-8")
    return load_comparison("x.toml", list(settings))


def test_each_system_is_a_complete_run(folder: Path) -> None:
    plan = load(HEAD + COMPARE)
    configs = {system.name: system.config for system in plan.systems}
    assert {name for name, config in configs.items() if config is None} == {"both"}
    for name, config in configs.items():
        if config is not None:
            assert config.name == f"x.{name}"
            assert config.training.learning_rate == (1e-4 if name == "gnmt-rl" else 1e-3)
            assert config.data.folder == str(folder.resolve())
    assert plan.folder == Path("runs/x")
    assert plan.baseline == "transformer"


def test_catalogue_goes_over_the_shared_sections_and_own_values_over_the_catalogue(folder: Path) -> None:
    plan = load(HEAD + COMPARE, "systems.gnmt.decoding.coverage_penalty=0.5")
    lstm, gnmt = plan.system("lstm"), plan.system("gnmt")
    assert lstm.config is not None and gnmt.config is not None
    assert (lstm.config.model.architecture, lstm.config.model.dropout, lstm.config.model.d_model) == (
        "seq2seq",
        0.3,
        192,
    )
    assert gnmt.config.decoding.coverage_penalty == 0.5
    assert (lstm.title, lstm.paper) == ("Seq2seq, LSTM", "Sutskever et al. 2014")


def test_shared_number_reaches_only_the_architectures_that_have_it(folder: Path) -> None:
    plan = load(HEAD + COMPARE)
    wide, lstm = plan.system("wide").config, plan.system("lstm").config
    assert wide is not None and lstm is not None
    assert wide.model.model_dump()["num_heads"] == 2
    assert "num_heads" not in lstm.model.model_dump()


def test_who_names_a_preset_gets_its_numbers(folder: Path) -> None:
    big = load(HEAD + COMPARE).system("big").config
    assert big is not None
    numbers = big.model.model_dump()
    assert (numbers["d_model"], numbers["num_heads"], numbers["dropout"]) == (1024, 16, 0.3)


def test_variant_of_the_shared_model_needs_no_base(folder: Path) -> None:
    wide = load(HEAD + COMPARE).system("wide")
    assert wide.config is not None
    assert (wide.title, wide.paper, wide.note) == ("wide", "", "Wider inside.")
    assert (wide.config.model.model_dump()["d_ff"], wide.config.training.seed) == (999, 7)


def test_system_that_starts_from_another_names_its_run(folder: Path) -> None:
    refined = load(HEAD + COMPARE).system("gnmt-rl")
    assert refined.config is not None and refined.start_from == "gnmt"
    assert refined.config.training.start_from == str(folder.resolve() / "runs" / "x" / "gnmt")


def test_system_that_starts_from_another_has_its_model_and_pieces(folder: Path) -> None:
    compare = COMPARE.replace('"gnmt-rl", ', '"gnmt-rl", "longer", ')
    own = "[systems.gnmt]\nmodel.d_model = 64\ntokenizer.vocab_size = 500\n[systems.longer]\nstart_from = 'gnmt-rl'\n"
    systems = load(HEAD + compare + own)
    for name in ("gnmt", "gnmt-rl", "longer"):
        config = systems.system(name).config
        assert config is not None
        assert (config.model.architecture, config.model.d_model, config.tokenizer.vocab_size) == ("gnmt", 64, 500)
        assert config.model.dropout == (0.3 if name == "gnmt" else 0.0)


@pytest.mark.parametrize(
    ("budget", "amount", "limits", "text"),
    [
        ("steps", 1200, (1200, None, None, None), "1,200 steps"),
        ("tokens", 5000, (10**9, 5000, None, None), "5,000 target pieces"),
        ("flops", 2.5e13, (10**9, None, 2.5e13, None), "2.5e+13 FLOPs"),
        ("minutes", 1.5, (10**9, None, None, 1.5), "1.5 minutes"),
    ],
)
def test_budget_is_what_ends_a_training(
    folder: Path, budget: str, amount: float, limits: tuple[float | None, ...], text: str
) -> None:
    plan = load(HEAD + COMPARE, f"compare.budget={budget}", f"compare.amount={amount}")
    for system in plan.systems:
        if system.config is not None:
            training = system.config.training
            assert (training.max_steps, training.max_tokens, training.max_flops, training.max_minutes) == limits
    assert str(plan.budget) == text


def test_order_puts_what_is_needed_first(folder: Path) -> None:
    plan = load(HEAD + COMPARE, 'compare.systems=["both", "gnmt-rl", "transformer", "wide", "gnmt", "big"]')
    assert [system.name for system in in_order_of_need(plan.systems)] == [
        "transformer",
        "wide",
        "both",
        "gnmt",
        "gnmt-rl",
        "big",
    ]
    assert plan.systems[0].name == "both"


def test_without_a_list_every_section_is_compared(folder: Path) -> None:
    plan = load(HEAD + "[compare]\namount = 3\n[systems.lstm]\n[systems.mine]\nmodel.d_ff = 5\n")
    assert [system.name for system in plan.systems] == ["lstm", "mine"]
    assert plan.baseline == "mine"


def test_file_of_a_run_is_told_apart(folder: Path) -> None:
    Path("run.toml").write_text(HEAD)
    assert not is_comparison("run.toml")
    with pytest.raises(ConfigError, match=r"^run.toml: has no \[compare\] section, it describes one run; `jumok train"):
        load_comparison("run.toml")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('compare.systems=["lsmt"]', "x.toml: [compare] systems: lsmt is not known; did you mean lstm?"),
        ('compare.systems=["lstm", "lstm"]', "x.toml: [compare] systems names lstm twice"),
        (
            'compare.systems=["a/b"]',
            "x.toml: system 'a/b': a name has letters, digits, dots, hyphens; no dot first",
        ),
        (
            'compare.systems=["lstm", "big", "wide", "transformer"]',
            "x.toml: [systems.both] is not among the systems of [compare]; "
            "known: lstm, big, wide, transformer",
        ),
        ("compare.budget=hours", "x.toml: [compare] budget = 'hours': input should be 'steps', 'tokens', 'flops' or "
         "'minutes'"),
        ("compare.amount=0", "x.toml: [compare] amount = 0: input should be greater than 0"),
        ("compare.amount=0.5", "x.toml: [compare] amount = 0.5 tokens: not even one update"),
        ("compare.amout=5", "x.toml: [compare] amout is not a known key; did you mean amount?"),
        ("compare.baseline=lsmt", "x.toml: [compare] baseline = 'lsmt' is not among the systems; did you mean lstm?"),
        ("systems.wide.base=trasformer", "x.toml: [systems.wide] base = 'trasformer' is not known; did you mean "
         "transformer?"),
        ("systems.wide.titel=x", "x.toml: [systems.wide] titel is not a known key; did you mean title?"),
        ("systems.wide=5", "x.toml: [systems.wide] = 5: expected a section"),
        ("systems.wide.model.d_f=5", "x.toml: system wide: [model] d_f is not a known key; did you mean d_ff?"),
        ("training.max_step=5", "x.toml: [training] max_step is not a known key; did you mean max_steps?"),
        (
            "training.max_steps=5",
            "x.toml: training.max_steps would make the budget unequal; [compare] budget and amount say when a "
            "training ends",
        ),
        (
            "systems.wide.training.max_minutes=5",
            "x.toml: training.max_minutes would make the budget unequal; [compare] budget and amount say when a "
            "training ends",
        ),
        ("model.num_head=2", "x.toml: [model] num_head is not a known key of any system; did you mean num_heads?"),
        ('systems.both.ensemble=["wide"]', "x.toml: [systems.both] ensemble names one system; it takes two or more"),
        (
            'systems.both.ensemble=["wide", "transfomer"]',
            "x.toml: system both averages transfomer, which is not among the systems of [compare]; did you mean "
            "transformer?",
        ),
        ("systems.both.model.d_ff=5", "x.toml: [systems.both] is an ensemble and has nothing to train; remove model"),
        (
            "systems.wide.start_from=both",
            "x.toml: system wide starts from both, which is an ensemble; name systems that are trained",
        ),
        (
            "systems.gnmt.start_from=gnmt-rl",
            "x.toml: gnmt starts from gnmt-rl starts from gnmt: none can be the first",
        ),
        ("systems.wide.start_from=wide", "x.toml: wide starts from wide: none can be the first"),
    ],
)  # fmt: skip
def test_mistake_is_explained_in_one_line(folder: Path, setting: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(HEAD + COMPARE, setting)
    assert str(caught.value) == message


def test_missing_amount_is_described(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"^x.toml: \[compare\] amount is missing; How much of it.$"):
        load(HEAD + '[compare]\nsystems = ["lstm"]\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"name = ", "^x.toml: not TOML: "), (b"\xff", "^x.toml: not UTF-8 at byte 0; save it as UTF-8$")],
)
def test_unreadable_file(folder: Path, content: bytes, message: str) -> None:
    Path("x.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_comparison("x.toml")


def test_missing_file_and_directory(folder: Path) -> None:
    with pytest.raises(ConfigError, match="^nope.toml: no such file; `recipes/` holds complete examples$"):
        load_comparison("nope.toml")
    Path("d").mkdir()
    with pytest.raises(ConfigError, match="^d: is a directory; give the TOML file of a run$"):
        load_comparison("d")
