"""The table in the terminal and in Markdown: every figure is there, and lines stay as wide as the terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from jumok.comparison.paper import WARNING
from jumok.comparison.presentation import (
    count,
    definitions,
    duration,
    length_table,
    number,
    print_comparison,
    scientific,
    table_rows,
    to_markdown,
)


def printed(comparison, width, measures=()) -> str:
    file = io.StringIO()
    print_comparison(comparison, Console(file=file, width=width), measures)
    return file.getvalue()


FIGURES = ("18.9 ± 1.2", "−18.7 [−19.6, −17.8]", "7.89", "7.6M", "3.1·10¹⁴", "1.2·10¹³", "2:05 min", "1,437", "23.4")


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_figure_is_readable_at_every_width(width, a_comparison, some_measures):
    text = printed(a_comparison(with_paper=True), width, some_measures)
    for figure in FIGURES:
        assert figure in text
    assert "순환" in text and "…" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_a_narrow_terminal_gets_two_tables_and_a_wide_one_a_single_table(a_comparison):
    assert [printed(a_comparison(), width).count("system ") for width in (80, 160)] == [2, 1]


def test_a_failed_system_is_marked_with_its_reason(a_comparison):
    row = table_rows(a_comparison())[2]
    assert row.error == "the loss stopped being a number at step 40" and row.cells == ()
    text = printed(a_comparison(), 160)
    assert "MoE: failed: the loss stopped being a number at step 40" in text


def test_markup_of_a_title_is_printed_as_it_is(a_comparison, a_system):
    system = a_system("x", "[red]mine[/red] | *star*", 20.0, 1e14)
    comparison = a_comparison(systems=(system,), baseline="x")
    assert "[red]mine[/red]" in printed(comparison, 160)
    assert "\\[red\\]mine\\[/red\\] \\| \\*star\\*" in to_markdown(comparison)


def test_both_ways_of_cost_are_named_with_their_definition(a_comparison):
    lines = "\n".join(definitions(a_comparison(remark="One seed.")))
    assert "counted: 2 operations for each multiply-add" in lines
    assert "training time × devices × operations a second that a device sustains" in lines
    assert "1 × 1.0·10¹¹ a second: cpu, 2 threads" in lines
    failed = replace(a_comparison().systems[3], status="failed")
    without = definitions(a_comparison(systems=(*a_comparison().systems[:3], failed)))
    assert "To baseline" not in " ".join(without)
    assert "less that of Transformer" in lines and "tok:13a" in lines and "One seed." in lines


def test_markdown_has_as_many_cells_in_every_row(a_comparison, some_measures):
    text = to_markdown(a_comparison(with_paper=True), some_measures)
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    assert len(tables) == 4
    for table in tables:
        assert len({line.count(" | ") for line in table}) == 1
    assert "all in \\<one\\> vector" in text
    assert WARNING in text and WARNING not in to_markdown(a_comparison())


def test_titles_are_escaped_in_every_table_of_markdown(a_comparison, a_system):
    odd = a_system("odd", "a*b*<i>", 10.0, 1e14)
    text = to_markdown(a_comparison(systems=(odd,), baseline="odd"))
    assert text.count("a\\*b\\*\\<i\\>") >= 2 and "a*b*" not in text and "<i>" not in text


def test_lengths_are_named_by_what_was_counted(a_comparison):
    assert "## BLEU by words of the source" in to_markdown(a_comparison())
    assert "## BLEU by characters of the source" in to_markdown(a_comparison(source="zh"))


def test_the_baseline_has_no_difference_and_unknown_figures_are_a_dash(a_comparison):
    rows = table_rows(a_comparison())
    assert rows[3].is_baseline and rows[3].cells[1] == "–"
    assert rows[1].cells[2] == "–"
    bare = replace(a_comparison().systems[0], bleu=None, train_flops=None, train_seconds=None, params=None)
    assert table_rows(a_comparison(systems=(bare,)))[0].cells[0] == "–"


def test_bleu_by_length_keeps_its_columns_where_a_range_is_missing(a_comparison):
    first, *others = a_comparison().systems
    short = replace(first, bleu_by_length=first.bleu_by_length[:2])
    head, rows = length_table(a_comparison(systems=(short, *others)))
    assert head == ("system", "1–5 (40)", "6–10 (40)", "11–15 (40)")
    assert rows[0] == ("Seq2seq, LSTM", "18.7", "17.7", "–")


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (scientific(3.3e18), "3.3·10¹⁸"),
        (scientific(2e-3), "2.0·10⁻³"),
        (count(7_640_000), "7.6M"),
        (count(12_345), "12.3k"),
        (count(1437), "1,437"),
        (number(1234.5), "1,234"),
        (number(0.0123), "0.0123"),
        (number(5.2e21), "5.2·10²¹"),
        (duration(59.6), "1:00 min"),
        (duration(7265), "2:01 h"),
        (duration(None), "–"),
    ],
)
def test_figures_as_a_person_reads_them(shown, text):
    assert shown == text
