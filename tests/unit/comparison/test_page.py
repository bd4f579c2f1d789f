"""The page: well-formed, from one file, every picture with its table."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from jumok.comparison.charts import Line, Mark, draw_lines, draw_marks, log_ticks, power_of_ten
from jumok.comparison.page import render_comparison, write_page


@pytest.fixture
def page(a_comparison, some_measures):
    return render_comparison(a_comparison(with_paper=True), some_measures).decode()


def test_nothing_comes_from_outside_and_nothing_is_styled_against_the_policy(page):
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href|style)="', page)
    assert "://" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)  # there: the name of SVG


def test_it_holds_the_table_the_pictures_and_the_reasons(page):
    for text in (
        "Korean → English",
        "18.9\u00a0±\u00a01.2",
        "순환 신경망 GRU",
        "the loss stopped being a number at step 40",
    ):
        assert text in page
    assert "all in &lt;one&gt; vector" in page and "<one>" not in page
    for heading in ("Quality and cost", "BLEU against training cost", "BLEU by the length of the source"):
        assert f"<h2>{heading}</h2>" in page
    assert "not comparable with figures on other data" in page


def test_every_picture_is_well_formed_described_and_has_a_table_behind_it(page):
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2 + 3 + 3 + 2  # cost, lengths of three systems, Table 1, the paper's two
    for picture in pictures:
        assert ElementTree.fromstring(picture).get("aria-label")
    for section in re.findall(r"<section>.*?</section>", page, re.DOTALL):
        assert "<table" in section


def test_figures_of_layers_are_shown_and_no_number_is_said(page):
    assert "encoder_layers.1" in page and "3e-07" in page
    assert "not\u00a0a\u00a0number" in page


def test_parts_without_figures_are_left_out(a_comparison, a_system):
    bare = a_system("x", "X", 20.0, 1e14, bleu_by_length=(), difference=None)
    page = render_comparison(a_comparison(systems=(bare,), baseline="x")).decode()
    for heading in ("by the length", "Table 1", "own Table 2", "in the layers"):
        assert f"{heading}" not in re.sub(r"<header>.*?</header>", "", page, flags=re.DOTALL)


def test_a_comparison_in_which_all_failed_still_has_a_page(a_comparison):
    failed = a_comparison().systems[2]
    page = render_comparison(a_comparison(systems=(failed,), baseline="moe")).decode()
    assert "the loss stopped being a number" in page and "<svg" not in page


def test_it_is_written_whole(tmp_path, a_comparison):
    write_page(a_comparison(), tmp_path / "comparison.html")
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.html"]


def test_ticks_are_round_and_there_are_some_however_narrow_the_range():
    assert log_ticks(1e14, 1e18) == [1e14, 1e15, 1e16, 1e17, 1e18]
    assert log_ticks(1.5e14, 1.5e15) == [2e14, 5e14, 1e15]
    assert log_ticks(2.9e14, 5.6e14) == [3e14, 4e14, 5e14]
    assert [power_of_ten(value) for value in (1e15, 5e14, 1.5e9)] == ["10¹⁵", "5·10¹⁴", "1.5·10⁹"]


def test_charts_take_one_point_and_escape_titles():
    chart = draw_marks("about", [Mark("<b>", 1e15, 0.0)], "FLOPs", power_of_ten)
    assert "&lt;b&gt;" in chart and "<b>" not in chart
    ElementTree.fromstring(draw_lines("about", [Line("a", [(16, 1)])], "n", str, str, log=True))
