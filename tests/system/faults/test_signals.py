"""Stopped by a signal at any moment: saved within the step, and the end is as if nothing had happened."""

from __future__ import annotations

from typing import Any

import pytest

TRAINER = "jumok.training.trainer:Trainer"
SAVE = "jumok.storage.checkpoints:Checkpoints.save"


def at(function: str, call: int, send: str = "SIGTERM") -> dict[str, Any]:
    return {"fault": "at_call", "function": function, "call": call, "send": send}


def last_batch_of_first_epoch(whole: Any) -> int:
    """The step that ends the first epoch."""
    return max(step for event, step, epoch, *_ in whole.losses() if event == "train" and epoch == 0)


def test_the_training_is_what_the_other_tests_take_it_for(whole: Any) -> None:
    losses = whole.losses()
    assert [step for event, step, *_ in losses if event == "train"] == list(range(1, 11))
    assert [step for event, step, *_ in losses if event == "validate"] == [4, 8, 10]
    epochs = {epoch for event, _, epoch, *_ in losses if event == "train"}
    assert len(epochs) >= 3 and 2 <= last_batch_of_first_epoch(whole) <= 4
    assert whole.saved(10)["state"]["batch"] > 0
    assert whole.leftovers() == []


@pytest.mark.parametrize(("send", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_before_the_first_update(trainings: Any, whole: Any, send: str, code: int) -> None:
    training = trainings(f"first-{send}")
    assert training.train(at(f"{TRAINER}._update", 1, send)) == code
    lines = training.said().splitlines()
    assert "jumok: stopping after this update …" in lines
    assert lines[-1] == "jumok: stopped at step 1 and saved; the same command goes on from there"
    assert training.run.checkpoints.steps() == [1]
    training.finish()
    assert "going on from step 1\n" in training.said()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("function", ["jumok.pipeline:_begin", f"{TRAINER}._go_on_from_checkpoint"])
def test_before_there_is_anything_to_save(trainings: Any, whole: Any, function: str) -> None:
    training = trainings(f"nothing-{function[-5:]}")
    assert training.train(at(function, 1)) == -15  # a shell calls it 143
    assert training.run.checkpoints.steps() == []
    assert training.train(at(function, 1, "SIGINT")) == 130
    assert training.said().splitlines()[-1] == "jumok: stopped"
    training.finish()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_around_the_end_of_an_epoch(trainings: Any, whole: Any, offset: int) -> None:
    step = last_batch_of_first_epoch(whole) + offset
    training = trainings(f"epoch-{offset}")
    assert training.train(at(f"{TRAINER}._update", step)) == 143
    assert training.run.checkpoints.steps() == sorted({step} | ({4} if step > 4 else set()))
    training.finish()
    assert training.outcome() == whole.outcome()


def test_twice_in_one_epoch_and_once_in_the_next(trainings: Any, whole: Any) -> None:
    training = trainings("often")
    for send, code in (("SIGTERM", 143), ("SIGINT", 130), ("SIGTERM", 143)):
        assert training.train(at(f"{TRAINER}._update", 1, send)) == code
    assert [epoch for _, step, epoch, *_ in training.losses() if step < 3] == [0, 0]
    training.finish()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("function", [f"{TRAINER}._validate", f"{TRAINER}._validation_bleu"])
def test_in_validation(trainings: Any, whole: Any, function: str) -> None:
    training = trainings(f"validation-{function[-4:]}")
    assert training.train(at(function, 2)) == 143
    assert training.run.checkpoints.steps() == [4, 8]
    training.finish()
    assert training.outcome() == whole.outcome()


def test_in_saving(trainings: Any, whole: Any) -> None:
    training = trainings("saving")
    assert training.train(at(SAVE, 1)) == 143
    assert training.run.checkpoints.steps() in ([4], [4, 5])  # that save, or that of the next update
    training.finish()
    assert training.outcome() == whole.outcome()


def test_after_the_last_update(trainings: Any, whole: Any) -> None:
    training = trainings("after")
    assert training.train(at(f"{TRAINER}._choose_model", 1)) == 143
    training.finish()
    assert training.outcome() == whole.outcome()
    assert training.losses() == whole.losses()


def test_two_signals_of_a_supervisor_still_save(trainings: Any, whole: Any) -> None:
    training = trainings("both")
    update = f"{TRAINER}._update"
    assert training.train(at(update, 2, "SIGINT"), at(f"{TRAINER}._backward", 3, "SIGTERM")) == 130
    assert training.run.checkpoints.steps() == [2]
    training.finish()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_sampled_pieces_are_the_same_in_every_process(trainings: Any, kind: str) -> None:
    settings = ["tokenizer.sampling=0.1", f"tokenizer.kind={kind}", f"name=sampled-{kind}"]
    first, second = trainings(f"sampled-{kind}"), trainings(f"sampled-{kind}-again")
    first.finish(settings=settings)
    assert second.train(at(f"{TRAINER}._update", 3), settings=settings) == 143
    second.finish(settings=settings)
    assert second.outcome() == first.outcome()
