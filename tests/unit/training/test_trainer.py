"""The trainer on a corpus of counting: small enough for a second, real enough to go through every file."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from jumok.config import Config, parse_config
from jumok.data.batching import collate
from jumok.data.prepared import PreparedCorpus, prepare
from jumok.errors import DivergenceError, ResourceError, UsageError
from jumok.nn.device import choose_device
from jumok.storage.checkpoints import load_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.training.distributed import World
from jumok.training.interruption import Interrupted
from jumok.training.objective import TranslationObjective
from jumok.training.trainer import Trainer, mean_loss

NUMBERS = {"one": "하나", "two": "둘", "three": "셋", "four": "넷", "five": "다섯", "six": "여섯", "seven": "일곱"}


def _write_pairs(path, num_pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(num_pairs):
        words = [list(NUMBERS)[i] for i in rng.integers(len(NUMBERS), size=rng.integers(1, 9))]
        lines.append(" ".join(NUMBERS[word] for word in words) + "\t" + " ".join(words) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("counting")
    _write_pairs(path / "train.tsv", 120, 1)
    _write_pairs(path / "valid.tsv", 20, 2)
    return path


def _config(folder, model: dict | None = None, **training) -> Config:
    settings = {"max_steps": 6, "batch_tokens": 128, "learning_rate": 1e-3, "warmup_steps": 2, "validate_every": 2}
    return parse_config(
        {
            "name": "counting",
            "data": {"source": "ko", "target": "en", "folder": str(folder), "train": "train.tsv", "valid": "valid.tsv"},
            "tokenizer": {"vocab_size": 300},
            "model": {
                "preset": "tiny",
                "d_model": 16,
                "d_ff": 32,
                "num_heads": 2,
                "encoder_layers": 1,
                "decoder_layers": 1,
                **(model or {}),
            },
            "training": {**settings, "validate_bleu": 0, "threads": 1, "device": "cpu", **training},
            "decoding": {"max_extra_length": 5},
        }
    )


@pytest.fixture(scope="module")
def corpus(folder) -> PreparedCorpus:
    return prepare(_config(folder), folder / "prepared")


@pytest.fixture
def make(folder, corpus, tmp_path):
    """A trainer in a run directory of that name, and the events that it tells."""

    def build(name: str = "run", model: dict | None = None, **training) -> tuple[Trainer, list[dict]]:
        config, run, events = _config(folder, model, **training), RunDirectory(tmp_path / name), []
        run.create(config, corpus.folder)
        return Trainer(config, corpus, run, [events.append]), events

    return build


def _weights(trainer: Trainer) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in trainer.model.parameters()]


# --- one update ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clip_norm", [0.0, 0.01])
def test_accumulating_two_batches_is_one_update_with_both_in_one_batch(make, clip_norm):
    results, events = [], []
    for parts in ([range(5), range(5, 20)], [range(20)]):
        trainer, told = make(model={"dropout": 0.0}, clip_norm=clip_norm, learning_rate=1.0, warmup_steps=1)
        trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.0)  # weights move by the gradient itself
        trainer._update([np.arange(part.start, part.stop) for part in parts])
        results.append(_weights(trainer))
        events.append(told[-1])
    torch.testing.assert_close(results[0], results[1], atol=1e-6, rtol=1e-5)
    for figure in ("loss", "grad_norm", "tgt_tokens"):
        assert events[0][figure] == pytest.approx(events[1][figure], rel=1e-4)


def test_the_gradient_is_of_the_loss_a_token_and_no_longer_than_clip_norm(make):
    trainer, events = make(model={"dropout": 0.0}, clip_norm=0.01, learning_rate=1.0, warmup_steps=1)
    trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.0)
    before = _weights(trainer)
    trainer._update([np.arange(20)])
    moved = torch.cat([(a - b).flatten() for a, b in zip(before, _weights(trainer), strict=True)])
    assert events[-1]["grad_norm"] > 0.01
    assert moved.norm().item() == pytest.approx(0.01, rel=1e-3)
    assert 0.5 * math.log(300) < events[-1]["loss"] < 2 * math.log(300)  # an untrained model knows nothing


def test_the_same_seed_trains_the_same_weights_and_another_seed_others(make):
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trainer, _ = make(name, seed=seed)
        trainer.train()
        weights.append(_weights(trainer))
    assert all(torch.equal(a, b) for a, b in zip(weights[0], weights[1], strict=True))
    assert not torch.equal(weights[0][0], weights[2][0])


def test_an_epoch_shows_every_sentence_once_also_with_accumulation(make):
    for accumulate in (1, 3):
        trainer, _ = make(accumulate=accumulate)
        updates, count = trainer._updates(), 0
        while trainer.progress.epoch == 0:
            batches = next(updates)
            if trainer.progress.epoch == 0:
                count += sum(map(len, batches))
        assert count == len(trainer.train_split)


def test_a_loss_that_is_no_number_never_reaches_the_weights_and_ends_the_training_in_time(make):
    trainer, events = make(max_steps=100, validate_every=1000)
    before = _weights(trainer)
    objective = trainer.spread_objective

    def broken(batch):
        loss, count = objective(batch)
        return loss * math.nan, count

    trainer.spread_objective = broken
    message = r"10 updates in a row had no finite gradient \(last at step 10, its sentences are in .*metrics.jsonl\); "
    with pytest.raises(DivergenceError, match=message):
        trainer.train()
    assert all(torch.equal(a, b) for a, b in zip(before, _weights(trainer), strict=True))
    skips = [event for event in events if event["event"] == "skip"]
    assert len(skips) == 10
    assert all(event["loss"] == "nan" and event["rows"] and event["rows"][0] for event in skips)


# --- validation ---------------------------------------------------------------------------------------------------


def test_validation_loss_does_not_depend_on_the_batch_size_and_is_the_mean_over_tokens(make):
    trainer, _ = make(model={"dropout": 0.5})
    trainer.model.train()
    losses = [mean_loss(trainer.objective, trainer.valid_split, size, trainer.world) for size in (16, 100, 10_000)]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)
    assert trainer.model.training
    batch = collate(*trainer.valid_split.ids(range(len(trainer.valid_split))))
    with torch.no_grad():
        log_probs = trainer.model.eval().project(trainer.model(batch.src, batch.tgt_in)).log_softmax(-1)
    picked = log_probs.gather(2, batch.tgt_out[:, :, None])[:, :, 0][batch.tgt_out != 0]
    assert losses[0] == pytest.approx(-picked.mean().item(), rel=1e-5)


def test_validation_changes_nothing_in_the_training(make):
    weights = []
    for name, options in (("often", {"validate_every": 1, "validate_bleu": 5}), ("once", {"validate_every": 1000})):
        trainer, _ = make(name, **options)
        trainer.train()
        weights.append(trainer.run.checkpoints.load_model(6))
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_the_loss_falls_when_trained_for_longer(make):
    trainer, events = make(max_steps=60, validate_every=20, learning_rate=1e-2, warmup_steps=10)
    trainer.train()
    losses = [event["loss"] for event in events if event["event"] == "validate"]
    assert losses[-1] < 0.7 * losses[0]


def test_patience_ends_a_training_that_gets_no_better(make):
    trainer, _ = make(max_steps=1000, patience=2, validate_every=1, learning_rate=1e-12)
    trainer.progress.best_loss = 0.0
    trainer.train()
    assert trainer.progress.step == 2
    assert trainer.progress.worse_validations == 2


def test_max_minutes_ends_a_training(make):
    trainer, _ = make(max_steps=100_000, max_minutes=1e-5, validate_every=100_000)
    assert trainer.train().step < 10


# --- checkpoints and the model to use -----------------------------------------------------------------------------


def test_the_average_of_checkpoints_is_the_mean_of_their_weights(make):
    trainer, _ = make(average_last=3, keep_last=3)
    trainer.train()
    checkpoints = trainer.run.checkpoints
    assert checkpoints.steps() == [2, 4, 6]
    single = [checkpoints.load_model(step) for step in (2, 4, 6)]
    for name, tensor in checkpoints.average([2, 4, 6]).items():
        torch.testing.assert_close(tensor, torch.stack([weights[name] for weights in single]).mean(0))


def test_the_model_to_use_is_the_candidate_with_the_lowest_validation_loss(make):
    trainer, events = make(average_last=3, keep_last=3)
    trainer.train()
    chosen = next(event for event in events if event["event"] == "model")
    checkpoints = trainer.run.checkpoints
    best = trainer.progress.best_step
    candidates = {
        f"step {best}": checkpoints.load_model(best),
        "mean of steps 2, 4, 6": checkpoints.average([2, 4, 6]),
    }
    saved = load_tensors(trainer.run.model_file)
    assert all(torch.equal(saved[name], tensor) for name, tensor in candidates[chosen["chosen"]].items())
    losses = [event["loss"] for event in events if event["event"] == "validate"]
    assert chosen["loss"] <= min(losses) + 1e-6
    model = trainer.run.load_model()
    loss = mean_loss(TranslationObjective(model, 0.1), trainer.valid_split, 128, trainer.world)
    assert loss == pytest.approx(chosen["loss"], rel=1e-5)


def test_the_best_checkpoint_outlives_those_that_came_after_it(make):
    trainer, _ = make(max_steps=12, keep_last=2, validate_every=1000, save_every=2)
    trainer.progress.best_step = 2
    trainer.train()
    assert trainer.run.checkpoints.steps()[-2:] == [10, 12]
    trainer.progress.best_step = 10
    trainer.settings = trainer.settings.model_copy(update={"max_steps": 20})
    for batches in trainer._updates():
        trainer._update(batches)
        trainer._save()
        if trainer._is_over():
            break
    assert trainer.run.checkpoints.steps() == [10, 18, 20]


def test_an_interrupted_training_that_goes_on_ends_with_the_weights_of_an_uninterrupted_one(make):
    options = {"max_steps": 8, "model": {"dropout": 0.3}, "accumulate": 2, "validate_every": 4}
    whole, _ = make("whole", **options)
    whole.train()
    first, _ = make("parts", **{**options, "max_steps": 3})
    first.train()
    second, events = make("parts", **options)
    second.train()
    assert any(event.get("text") == "going on from step 3" for event in events)
    expected, found = (t.run.checkpoints.load_model(8) for t in (whole, second))
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name
    assert whole.progress.tgt_tokens == second.progress.tgt_tokens
    assert whole.progress.flops == second.progress.flops


def test_a_signal_saves_after_the_update_and_says_how_to_go_on(make):
    import os
    import signal

    trainer, _ = make(max_steps=1000, validate_every=1000)
    original = trainer._update

    def update(batches):
        original(batches)
        if trainer.progress.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    trainer._update = update
    with pytest.raises(Interrupted, match="stopped at step 3 and saved; the same command goes on from there") as caught:
        trainer.train()
    assert caught.value.exit_code == 128 + signal.SIGTERM
    assert trainer.run.checkpoints.steps() == [3]


def test_a_run_begun_on_other_data_is_noticed(make):
    trainer, _ = make()
    trainer.train()
    again, _ = make()
    assert again.run.changed_data(again.corpus) == []
    again.corpus.info["fingerprint"], kept = "other", again.corpus.info["fingerprint"]
    try:
        (change,) = again.run.changed_data(again.corpus)
    finally:
        again.corpus.info["fingerprint"] = kept
    assert change.endswith(f"holds other data (fingerprint other) than the run was begun on ({kept[:12]})")


def test_running_out_of_memory_says_which_setting_to_lower(make):
    trainer, _ = make()

    def objective(batch):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 99999999999 bytes")

    trainer.spread_objective = objective
    with pytest.raises(ResourceError, match=r"out of memory; lower training\.batch_tokens"):
        trainer.train()


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(UsageError, match=r'^device = "cuda", but torch finds no CUDA device here'):
        choose_device("cuda")


def test_bfloat16_autocast_on_the_cpu_learns_like_float32(make):
    losses = {}
    for precision in ("float32", "bfloat16"):
        trainer, events = make(precision, precision=precision, model={"dropout": 0.0})
        trainer.train()
        losses[precision] = [event["loss"] for event in events if event["event"] == "train"]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.03)


def test_tokens_and_operations_are_counted(make):
    trainer, events = make(max_steps=3, validate_every=1000)
    trainer.train()
    assert events[-1]["event"] == "model"
    train_events = [event for event in events if event["event"] == "train"]
    assert [event["step"] for event in train_events] == [1, 2, 3]
    assert train_events[-1]["tgt_tokens"] == trainer.progress.tgt_tokens > 0
    assert trainer.progress.flops > 0


# --- the layers' sizes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [{"dropout": 0.2}, {"norm_kind": "batch"}], ids=str)
def test_recording_the_layers_changes_nothing_of_the_training(make, model):
    results = []
    for name, record in (("with", True), ("without", False)):
        trainer, events = make(name, model, record_layers=record)
        trainer.train()
        told = [event for event in events if event["event"] == "layers"]
        assert [event["step"] for event in told] == ([2, 4, 6] if record else [])
        losses = [event["loss"] for event in events if event["event"] in ("train", "validate")]
        results.append((_weights(trainer), losses))
    assert all(torch.equal(a, b) for a, b in zip(results[0][0], results[1][0], strict=True))
    assert results[0][1] == results[1][1]


def test_recorded_layers_have_a_figure_each(make):
    trainer, events = make(record_layers=True)
    trainer.train()
    event = next(event for event in events if event["event"] == "layers")
    assert set(event["layers"]) == {"encoder.layers.0", "decoder.layers.0"}
    assert all(size > 0 for sizes in event["layers"].values() for size in sizes.values())
    counts = {name: len(figures) for name, figures in event["attention_entropy"].items()}
    assert counts == {"encoder": 1, "decoder": 1, "cross": 1}


def test_layers_that_are_spread_over_processes_are_not_recorded(folder, corpus, tmp_path):
    config = _config(folder, record_layers=True)
    config = config.model_copy(update={"distributed": config.distributed.model_copy(update={"shard": True})})
    with pytest.raises(UsageError, match="record_layers wants whole layers on each process; set distributed.shard = f"):
        Trainer(config, corpus, RunDirectory(tmp_path / "run"), world=World(torch.device("cpu"), 0, 2))
