"""Killed at every boundary of writing: the same command ends as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.slow
between_and_within = pytest.mark.parametrize("is_torn", [False, True], ids=["between-writes", "within-a-write"])


def problems_after_kills(
    trainings: Any, whole: Any, make: Callable[[int], Any], boundaries: list[str], is_torn: bool
) -> list[str]:
    """Kill a training at each boundary and finish it; returns what is not as it should be."""

    def killed() -> Iterator[tuple[Any, Any]]:
        for number in range(1, len(boundaries) + 1):
            yield make(number), ({"fault": "at_write", "number": number, "is_torn": is_torn},)

    trials = []
    for training, code in trainings.pairwise(killed()):
        assert code == -9, training.said()
        trials.append(training)
    expected, problems = whole.outcome(), []
    for (training, code), where in zip(trainings.pairwise((t, ()) for t in trials), boundaries, strict=True):
        if code != 0:
            problems.append(f"{where}: exit code {code}: {training.said().splitlines()[-1]}")
            continue
        outcome = training.outcome()
        different = [name for name, value in expected.items() if outcome[name] != value]
        if different or training.leftovers():
            problems.append(f"{where}: different: {different}, left behind: {training.leftovers()}")
    return problems


@between_and_within
def test_killed_at_every_write(trainings: Any, whole: Any, is_torn: bool) -> None:
    boundaries = trainings(f"counted-{is_torn}").boundaries(is_torn=is_torn)
    assert len(boundaries) > (40 if is_torn else 80)
    kinds = {boundary.split()[0] for boundary in boundaries}
    assert kinds >= ({"open", "fsync"} if is_torn else {"open", "fsync", "os.rename", "os.mkdir", "os.remove"})
    problems = problems_after_kills(trainings, whole, lambda n: trainings(f"killed-{is_torn}-{n}"), boundaries, is_torn)
    assert not problems, f"{len(problems)} of {len(boundaries)}:\n" + "\n".join(problems)


@between_and_within
def test_killed_again_before_the_first_update(trainings: Any, whole: Any, stopped: Any, is_torn: bool) -> None:
    boundaries = stopped.copy(f"again-{is_torn}").boundaries(is_torn=is_torn)
    num_before = next(number for number, boundary in enumerate(boundaries) if "step-8" in boundary)
    problems = problems_after_kills(
        trainings, whole, lambda n: stopped.copy(f"again-{is_torn}-{n}"), boundaries[:num_before], is_torn
    )
    assert not problems, f"{len(problems)} of {num_before}:\n" + "\n".join(problems)


def test_killed_three_times_in_one_training(trainings: Any, whole: Any) -> None:
    training = trainings("thrice")
    for number in (50, 20, 25):
        assert training.train({"fault": "at_write", "number": number}) == -9
    training.finish()
    assert training.outcome() == whole.outcome()


def test_report_of_a_shorter_training_is_not_taken_for_that_of_a_longer_one(whole: Any) -> None:
    longer = ["training.max_steps=12"]
    boundaries = whole.copy("longer").boundaries(is_torn=False, settings=longer)
    training = whole.copy("longer-killed")
    number = boundaries.index("open report.html") + 1
    assert training.train({"fault": "at_write", "number": number}, settings=longer) == -9
    training.finish(settings=longer)
    assert "is trained already" not in training.said()
