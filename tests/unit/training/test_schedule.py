from __future__ import annotations

import itertools

import pytest

from jumok.config import TrainingConfig
from jumok.training.schedule import learning_rate, paper_learning_rate

SCHEDULES = ["inverse_sqrt", "cosine", "linear", "constant"]


def test_equation_3_by_hand():
    # d_model = 64: factor 1/8. Warm-up 4: step 1 is 1·4^−1.5 = 1/8; step 4 is 1/2 both ways; step 16 is 1/4.
    assert paper_learning_rate(1, 64, 4) == pytest.approx(1 / 64)
    assert paper_learning_rate(4, 64, 4) == pytest.approx(1 / 16)
    assert paper_learning_rate(16, 64, 4) == pytest.approx(1 / 32)


def test_the_papers_base_model_peaks_at_7_e_minus_4_after_4000_steps():
    rates = {step: paper_learning_rate(step, 512, 4000) for step in range(3000, 5001)}
    assert max(rates, key=rates.get) == 4000
    assert rates[4000] == pytest.approx(6.99e-4, rel=1e-3)


def test_without_a_rate_of_ones_own_the_schedule_is_equation_3():
    config = TrainingConfig()
    for step in (1, 100, 3999, 4000, 4001, 100_000):
        assert learning_rate(config, 512, step) == pytest.approx(paper_learning_rate(step, 512, 4000))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_rate_rises_in_equal_steps_to_the_peak_at_the_end_of_warm_up(schedule):
    config = TrainingConfig(schedule=schedule, learning_rate=0.5, warmup_steps=10, max_steps=100)
    assert [learning_rate(config, 512, step) for step in range(1, 11)] == pytest.approx(
        [0.05 * step for step in range(1, 11)]
    )
    assert max(learning_rate(config, 512, step) for step in range(1, 101)) == pytest.approx(0.5)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_there_is_no_jump_where_warm_up_ends(schedule):
    config = TrainingConfig(schedule=schedule, learning_rate=1.0, warmup_steps=1000, max_steps=100_000)
    around = [learning_rate(config, 512, step) for step in (999, 1000, 1001)]
    assert around == pytest.approx([1, 1, 1], abs=1.1e-3)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_after_warm_up_the_rate_never_rises_and_stays_positive(schedule):
    config = TrainingConfig(schedule=schedule, learning_rate=1.0, warmup_steps=10, max_steps=200)
    rates = [learning_rate(config, 512, step) for step in range(10, 300)]
    assert all(a >= b > 0 for a, b in itertools.pairwise(rates))


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_cosine_and_linear_end_at_a_hundredth_of_the_peak(schedule):
    config = TrainingConfig(schedule=schedule, learning_rate=1.0, warmup_steps=10, max_steps=110)
    assert learning_rate(config, 512, 60) == pytest.approx(0.505)
    assert learning_rate(config, 512, 110) == pytest.approx(0.01)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_training_shorter_than_its_warm_up_never_reaches_the_peak(schedule):
    config = TrainingConfig(schedule=schedule, learning_rate=1.0, warmup_steps=100, max_steps=50)
    assert learning_rate(config, 512, 50) == pytest.approx(0.5)


@pytest.mark.parametrize("num_steps", [50, 80, 400])
@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_a_budget_ends_low_and_without_a_jump_however_few_the_steps(schedule, num_steps):
    config = TrainingConfig(schedule=schedule, learning_rate=1.0, warmup_steps=60, max_steps=10**9, max_minutes=1)
    rates = [learning_rate(config, 64, step, (step - 1) / num_steps) for step in range(1, num_steps + 1)]
    assert max(abs(a - b) for a, b in itertools.pairwise(rates)) < 0.04
    assert rates[-1] < 0.04 < 0.1 < max(rates)


def test_warm_up_of_one_step_starts_at_the_peak():
    config = TrainingConfig(learning_rate=0.3, warmup_steps=1)
    assert learning_rate(config, 512, 1) == pytest.approx(0.3)
