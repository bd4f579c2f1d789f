"""The published figures as they stand in the paper."""

from __future__ import annotations

import pytest

from jumok.comparison.paper import PUBLISHED, WARNING
from jumok.comparison.presentation import paper_rows
from jumok.evaluation.cost import flops_by_time


def test_the_ten_rows_and_their_order():
    titles = [row.title for row in PUBLISHED]
    assert titles[0] == "ByteNet" and titles[-1] == "Transformer (big)" and len(titles) == 10
    assert paper_rows()[2] == ("GNMT + RL", "24.6", "39.92", "2.3·10¹⁹", "1.4·10²⁰")
    assert paper_rows()[0] == ("ByteNet", "23.75", "–", "–", "–")


def test_the_transformers_have_the_best_scores_and_base_the_least_cost():
    german = [row.bleu_en_de for row in PUBLISHED if row.bleu_en_de]
    assert max(german) == PUBLISHED[-1].bleu_en_de == 28.4
    assert min(row.flops_en_de for row in PUBLISHED if row.flops_en_de) == PUBLISHED[-2].flops_en_de


def test_cost_of_the_transformers_follows_from_the_time_that_the_paper_names():
    for row, hours in ((PUBLISHED[-2], 12), (PUBLISHED[-1], 84)):
        assert flops_by_time(hours * 3600, 9.5e12, num_devices=8) == pytest.approx(row.flops_en_de, rel=0.01)


def test_the_label_says_that_it_is_other_data():
    assert "WMT14 newstest2014" in WARNING and "not comparable" in WARNING
