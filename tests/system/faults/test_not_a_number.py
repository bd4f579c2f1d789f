"""Gradients that are not numbers never reach the weights."""

from __future__ import annotations

import json
from typing import Any


def events(training: Any, kind: str) -> list[dict[str, Any]]:
    lines = training.run.metrics_file.read_text().splitlines()
    return [event for event in map(strict_json, lines) if event["event"] == kind]


def strict_json(line: str) -> Any:
    """As other programs read it: JSON has no NaN."""
    return json.loads(line, parse_constant=lambda name: f"not JSON: {name}")


def test_spoilt_batches_are_written_down_and_passed_over(trainings: Any, whole: Any) -> None:
    training = trainings("spoilt")
    training.finish({"fault": "not_a_number", "calls": [3, 5]})
    skips = events(training, "skip")
    assert len(skips) == 2 and skips[0]["loss"] == "nan"
    for skip in skips:
        rows = [row for batch in skip["rows"] for row in batch]
        assert rows and all(0 <= row < 60 for row in rows)
        assert f"step {skip['step']}: no update, loss nan, gradient nan\n" in training.said()
    assert training.saved(10)["state"]["skipped"] == 0
    assert training.outcome()["model"] != whole.outcome()["model"]
    assert not [event for event in events(training, "train") if "not JSON" in str(event)]


def test_no_update_means_the_same_weights_and_optimizer(trainings: Any) -> None:
    first, second = trainings("before-skip"), trainings("after-skip")
    stop = {"fault": "at_call", "function": "jumok.training.trainer:Trainer._update", "send": "SIGTERM"}
    calls = list(range(5, 100))
    assert first.train(stop | {"call": 2}) == 143
    assert second.train(stop | {"call": 3}, {"fault": "not_a_number", "calls": calls}) == 143
    before, after = first.saved(2), second.saved(3)
    assert after["state"]["skipped"] == 1
    assert before["model"] == after["model"] and before["optimizer"] == after["optimizer"]


def test_it_stops_with_a_message_when_nothing_else_comes(trainings: Any, whole: Any) -> None:
    training = trainings("diverged")
    settings = ["training.learning_rate=1e30", "training.max_skipped=3", "training.warmup_steps=1"]
    assert training.train(settings=settings) == 1
    skips = events(training, "skip")
    last = skips[-1]["step"]
    assert [skip["step"] for skip in skips][-3:] == [last - 2, last - 1, last]
    assert training.said().splitlines()[-1] == (
        f"jumok: 3 updates in a row had no finite gradient (last at step {last}, its sentences are in "
        f"{training.run.metrics_file}); lower training.learning_rate or raise training.warmup_steps; the same command "
        "goes on from the last save"
    )
    assert not training.run.model_file.exists()
    assert training.run.checkpoints.steps() == []
    training.finish()  # with the rate of the recipe
    assert training.outcome() == whole.outcome()


def test_validation_that_is_not_a_number_is_never_the_best(trainings: Any) -> None:
    training = trainings("not-best")
    settings = ["training.learning_rate=1e30", "training.max_skipped=100", "training.warmup_steps=1"]
    training.finish(settings=settings)
    assert events(training, "validate") == []
    assert training.said().count("the validation loss is not a number") == 3
    assert training.saved(10)["state"]["best_step"] == 0
