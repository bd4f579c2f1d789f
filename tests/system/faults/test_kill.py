"""Killed at every boundary of writing: the same command ends as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def boundaries(trainings: Any, whole: Any) -> list[tuple[str, str]]:
    """What a training does to files, in order, once without tearing and once torn: (operation, path)."""
    found = []
    for is_torn in (False, True):
        log = trainings.folder / f"boundaries-{is_torn}"
        log.write_text("")
        training = trainings(f"counted-{is_torn}")
        training.finish({"fault": "at_write", "log": str(log), "is_torn": is_torn})
        assert training.outcome() == whole.outcome()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        names = [(what, path.removeprefix(f"{training.run.path}/")) for what, path in lines]
        found.append(names)
    return found


def chosen(names: list[tuple[str, str]]) -> list[int]:
    """Every boundary of the last save, which also removes an older one, and every third of the others."""
    saves = [number for number, (_, path) in enumerate(names, 1) if "step-10.new" in path]
    first, last = saves[0], max(n for n, (_, path) in enumerate(names, 1) if "step-4.old" in path or n == saves[-1])
    return [n for n in range(1, len(names) + 1) if first <= n <= last + 8 or n % 3 == 1]


@pytest.mark.parametrize("is_torn", [False, True], ids=["between", "torn"])
def test_killed_at_every_write(
    trainings: Any, whole: Any, boundaries: list[list[tuple[str, str]]], is_torn: bool
) -> None:
    names = boundaries[is_torn]
    expected = whole.outcome()
    numbers = chosen(names)
    assert {what for what, _ in names} >= ({"open", "fsync"} if is_torn else {"open", "fsync", "os.rename", "os.mkdir"})

    def killed() -> Iterator[tuple[Any, Any]]:
        for number in numbers:
            fault = {"fault": "at_write", "number": number, "is_torn": is_torn}
            yield trainings(f"killed-{is_torn}-{number}"), (fault,)

    trials = []
    for training, code in trainings.pairwise(killed()):
        assert code == -9, training.said()
        trials.append(training)
    assert len(trials) == len(numbers)
    problems = []
    for (training, code), number in zip(trainings.pairwise((t, ()) for t in trials), numbers, strict=True):
        where = f"{number}, before {' '.join(names[number - 1])}"
        if code != 0:
            problems.append(f"{where}: exit code {code}: {training.said().splitlines()[-1]}")
            continue
        outcome = training.outcome()
        different = [key for key, value in expected.items() if outcome[key] != value]
        if different:
            problems.append(f"{where}: different: {', '.join(different)}")
        if training.leftovers():
            problems.append(f"{where}: left behind: {', '.join(training.leftovers())}")
    assert not problems, f"{len(problems)} of {len(numbers)}:\n" + "\n".join(problems)
