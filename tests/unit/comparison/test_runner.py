"""One system after the other: what fails stands alone, what is finished is not trained again, budgets are held."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from jumok.comparison.config import System, load_comparison
from jumok.comparison.results import Comparison
from jumok.comparison.runner import Runner, read_translations
from jumok.errors import UsageError
from jumok.training.interruption import Interrupted

HEAD = """
name = "x"
[data]
source = "en"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
test = "test.tsv"
[tokenizer]
vocab_size = 270
[model]
preset = "tiny"
d_model = 16
d_ff = 32
num_heads = 2
encoder_layers = 1
decoder_layers = 1
[training]
batch_tokens = 256
warmup_steps = 2
learning_rate = 1e-2
validate_every = 3
validate_bleu = 5
threads = 1
record_layers = true
[decoding]
beam = 2
max_extra_length = 5
[compare]
budget = "steps"
amount = 6
baseline = "plain"
"""
FOUR = """
[systems.refined]
start_from = "plain"
[systems.plain]
title = "Plain"
note = "The first."
[systems.other]
training.seed = 2
[systems.both]
ensemble = ["plain", "other"]
"""

Said = list[str]


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Comparison]:
    """Write the data and run a comparison in the test's folder."""
    monkeypatch.chdir(tmp_path)
    for name, count, seed in (("train", 200, 1), ("valid", 20, 2), ("test", 40, 3)):
        rng = random.Random(seed)
        lines = []
        for _ in range(count):
            words = rng.choices("abcdefgh", k=rng.randint(3, 6))
            lines.append(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")
        Path(f"{name}.tsv").write_text("".join(lines))

    def run(systems: str, *settings: str, said: Said | None = None, **options: Any) -> Comparison:
        Path("x.toml").write_text(HEAD + systems)
        say = (said if said is not None else []).append
        return Runner(load_comparison("x.toml", list(settings)), say=say, **options).run()

    return run


def status(comparison: Comparison) -> dict[str, str]:
    return {system.name: system.status for system in comparison.systems}


def test_table_is_complete_in_its_order_and_a_second_time_nothing_is_trained(
    compare: Callable[..., Comparison], tmp_path: Path
) -> None:
    comparison = compare(FOUR)
    assert [system.name for system in comparison.systems] == ["refined", "plain", "other", "both"]
    refined, plain, other, both = comparison.systems
    for system in comparison.systems:
        assert system.is_done, system.error
        assert system.bleu is not None and system.chrf is not None and system.bleu_interval is not None
        assert system.sentences_per_second is not None and system.sentences_per_second > 0
        assert sum(score.num_sentences for score in system.bleu_by_length) == 40
        assert (system.difference is None) == (system.name == "plain")
    assert (plain.title, plain.note, plain.steps, plain.architecture) == ("Plain", "The first.", 6, "transformer")
    assert plain.train_flops is not None and refined.train_flops is not None and both.train_flops is not None
    assert refined.steps == 12 and refined.train_flops > 1.5 * plain.train_flops  # what it started from counts
    assert both.params == 2 * (plain.params or 0) and both.steps == 12 and both.perplexity is None
    assert other.perplexity != plain.perplexity
    assert len(plain.curve) == 2 and plain.curve[-1].flops == plain.train_flops
    assert plain.layers is not None and plain.layers["step"] == 6
    assert (comparison.budget, comparison.test_set, comparison.baseline) == ("6 steps", "test, 40 sentences", "plain")
    assert "tok:13a" in comparison.signature
    assert Comparison.from_json(json.loads(json.dumps(comparison.to_json()))) == comparison
    assert sorted(path.name for path in (tmp_path / "prepared").iterdir() if path.name[0] != ".") == ["x", "x.refined"]

    files = [*(tmp_path / "runs").rglob("model.safetensors"), *(tmp_path / "runs").rglob("speed.json")]
    before = {path: path.stat().st_mtime_ns for path in files}
    said: Said = []
    again = compare(FOUR, said=said)
    assert {path: path.stat().st_mtime_ns for path in files} == before
    assert again.systems == comparison.systems
    assert sum("is trained already" in line for line in said) == 3


def test_failed_system_does_not_take_the_others_with_it(compare: Callable[..., Comparison]) -> None:
    failures: list[tuple[str, str]] = []

    def fails(event: dict[str, Any]) -> None:
        raise ValueError("out of luck\nand more")

    def watch(system: System) -> AbstractContextManager[Any]:
        return nullcontext(fails if system.name == "unlucky" else None)

    comparison = compare(
        """
[systems.many]
tokenizer.vocab_size = 50000
[systems.from-many]
start_from = "many"
[systems.unlucky]
[systems.plain]
""",
        watch=watch,
        on_failure=lambda system, error: failures.append((system.name, str(error))),
    )
    assert status(comparison) == {"many": "failed", "from-many": "failed", "unlucky": "failed", "plain": "done"}
    many, from_many, unlucky, _ = comparison.systems
    assert many.error is not None and "vocab_size" in many.error and "\n" not in many.error
    assert from_many.error == "needs many, which failed"
    assert unlucky.error == "ValueError: out of luck"
    assert [name for name, _ in failures] == ["many", "from-many", "unlucky"]
    assert all(failed.bleu is None and failed.difference is None for failed in (many, from_many, unlucky))

    mended = compare("[systems.unlucky]\n[systems.plain]\n")
    assert status(mended) == {"unlucky": "done", "plain": "done"}


def test_refined_system_is_not_shown_beside_another_start_than_its_own(
    compare: Callable[..., Comparison], tmp_path: Path
) -> None:
    systems = '[systems.plain]\n[systems.refined]\nstart_from = "plain"\n'
    assert status(compare(systems)) == {"plain": "done", "refined": "done"}
    shutil.rmtree(tmp_path / "runs/x/plain")
    assert status(compare(systems)) == {"plain": "done", "refined": "done"}  # the same weights again

    shutil.rmtree(tmp_path / "runs/x/plain")
    other = systems.replace("plain]", "plain]\ntraining.seed = 5", 1)
    comparison = compare(other)
    assert status(comparison) == {"plain": "done", "refined": "failed"}
    assert re.fullmatch(
        "runs/x/refined: began with the weights of an earlier plain, which was trained anew since; "
        "remove runs/x/refined to train it anew, too",
        comparison.systems[1].error or "",
    )
    shutil.rmtree(tmp_path / "runs/x/refined")
    assert status(compare(other)) == {"plain": "done", "refined": "done"}


def test_interruption_ends_the_comparison_and_the_same_command_goes_on(compare: Callable[..., Comparison]) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event["event"] == "save":
            raise Interrupted(2, event["step"])

    def watch(system: System) -> AbstractContextManager[Any]:
        return nullcontext(stop if system.name == "other" else None)

    systems = "[systems.plain]\n[systems.other]\ntraining.seed = 2\n"
    with pytest.raises(Interrupted, match="^stopped at step 3 and saved; the same command goes on from there$"):
        compare(systems, watch=watch)
    said: Said = []
    heard: Said = []

    def listen(system: System) -> AbstractContextManager[Any]:
        return nullcontext(lambda event: heard.append(event.get("text", "")))

    comparison = compare(systems, said=said, watch=listen)
    assert status(comparison) == {"plain": "done", "other": "done"}
    assert any("is trained already" in line for line in said)
    assert "going on from step 3" in heard


def test_budget_that_none_can_hold_is_refused_before_training(
    compare: Callable[..., Comparison], tmp_path: Path
) -> None:
    message = (
        "a budget of 1e+03 FLOPs is not enough for one update of any system (plain takes "
        r"[\d.e+]+ FLOPs); raise compare.amount, or lower training.batch_tokens"
    )
    pattern = re.escape(message).replace(re.escape(r"[\d.e+]+"), r"[\d.e+]+")
    with pytest.raises(UsageError, match=f"^{pattern}$"):
        compare("[systems.plain]\n", "compare.budget=flops", "compare.amount=1000")
    assert not (tmp_path / "runs").exists()
    with pytest.raises(UsageError, match="^a budget of 3 target pieces is not enough for one update of any system"):
        compare("[systems.plain]\n", "compare.budget=tokens", "compare.amount=3")


def test_system_that_cannot_hold_the_budget_is_marked(compare: Callable[..., Comparison]) -> None:
    systems = "[systems.plain]\n[systems.wide]\nmodel.d_ff = 20000\n"
    comparison = compare(systems, "compare.budget=flops", "compare.amount=1e8")
    assert status(comparison) == {"plain": "done", "wide": "failed"}
    wide = comparison.systems[1]
    assert wide.error is not None
    assert re.fullmatch(r"one update takes [\d.e+]+ FLOPs, more than the budget of 1e\+08 FLOPs", wide.error)
    plain = comparison.systems[0]
    assert plain.train_flops is not None and plain.train_flops >= 1e8


def test_chosen_systems_are_trained_and_finished_ones_shown(compare: Callable[..., Comparison]) -> None:
    assert status(compare(FOUR, only=["plain"])) == {"plain": "done"}
    assert status(compare(FOUR, only=["other"])) == {"plain": "done", "other": "done"}
    assert status(compare(FOUR, "compare.amount=7", only=["other"])) == {"other": "done"}  # that plain was another


def test_a_run_that_was_trained_otherwise_is_not_shown_as_this_one(compare: Callable[..., Comparison]) -> None:
    systems = "[systems.plain]\n[systems.other]\ntraining.seed = 2\n"
    compare(systems)
    fewer = compare(systems, "compare.amount=3")
    assert status(fewer) == {"plain": "failed", "other": "failed"}
    assert fewer.systems[0].error is not None
    assert "training.max_steps was 6 and is 3 now, and the figures would be those of the old" in fewer.systems[0].error
    smoother = compare(systems + "training.label_smoothing = 0.3\n")
    assert status(smoother) == {"plain": "done", "other": "failed"}
    more = compare(systems, "compare.amount=8")
    assert [system.steps for system in more.systems] == [8, 8]
    annealed = compare(systems, "compare.amount=9", "training.schedule=cosine")
    assert status(annealed) == {"plain": "failed", "other": "failed"}


def test_threads_and_device_make_no_other_training(compare: Callable[..., Comparison], tmp_path: Path) -> None:
    compare(FOUR)
    files = list((tmp_path / "runs").rglob("result.json"))
    before = [file.stat().st_mtime_ns for file in files]
    said: Said = []
    comparison = compare(FOUR, "training.threads=2", only=["plain"], said=said)
    assert len(comparison.systems) == 4 and not any("scoring" in line for line in said)
    assert [file.stat().st_mtime_ns for file in files] == before


def test_a_changed_test_set_is_translated_and_scored(compare: Callable[..., Comparison], tmp_path: Path) -> None:
    compare(FOUR)
    test_file = tmp_path / "test.tsv"
    test_file.write_text("a b c\tc b a\n" + test_file.read_text())
    said: Said = []
    comparison = compare(FOUR, said=said)
    assert said.count("scoring and writing the report") == 3
    for system in comparison.systems:
        assert sum(score.num_sentences for score in system.bleu_by_length) == 41, system.error


def test_a_shared_start_costs_once_and_a_curve_begins_where_its_start_ended(
    compare: Callable[..., Comparison],
) -> None:
    systems = '[systems.plain]\n[systems.refined]\nstart_from = "plain"\n'
    both_of = systems + '[systems.both]\nensemble = ["plain", "refined"]\n'
    plain, refined, both = compare(both_of).systems
    assert (both.steps, both.train_flops, both.train_tokens) == (12, refined.train_flops, refined.train_tokens)
    assert both.params == 2 * (plain.params or 0)
    assert refined.curve[-1].flops == refined.train_flops and plain.curve[-1].flops == plain.train_flops


def test_all_are_timed_with_the_threads_of_their_training(
    compare: Callable[..., Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from jumok.comparison import measures

    threads: list[int] = []
    timed = measures.translation_speed

    def listening(*arguments: Any) -> float:
        threads.append(torch.get_num_threads())
        return timed(*arguments)

    monkeypatch.setattr(measures, "translation_speed", listening)
    torch.set_num_threads(2)
    compare(FOUR)
    assert threads == [1, 1, 1, 1] and torch.get_num_threads() == 2


def test_what_a_chosen_system_needs_is_named(compare: Callable[..., Comparison]) -> None:
    (refined,) = compare(FOUR, only=["refined"]).systems
    assert refined.error == "needs plain, which is not trained yet; leave --only out, or add plain to it"


def test_translations_of_a_model_that_has_learned_little_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "test.translations.txt"
    path.write_bytes("a\0b\n\n  x \n\u2028\n".encode())
    assert read_translations(path) == ["a\0b", "", "  x ", "\u2028"]


def test_unknown_choice_names_the_nearest(compare: Callable[..., Comparison]) -> None:
    with pytest.raises(UsageError, match=r"^system plane is not part of x; did you mean plain\?$"):
        compare(FOUR, only=["plane"])


def test_many_processes_are_refused(compare: Callable[..., Comparison], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    message = "^jumok compare runs in one process; with torchrun, train the systems one by one$"
    with pytest.raises(UsageError, match=message):
        compare(FOUR)


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    yield
    import torch

    torch.set_num_threads(1)
