"""Every view in a real browser: it shows this model's numbers, and its control changes them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from jumok.inspection.positions import position_tables
from jumok.inspection.predictions import predictions
from jumok.inspection.stream import stream_of
from jumok.serving.answers.attention import trace_of
from jumok.serving.answers.look import Look

pytestmark = pytest.mark.slow

SOURCE = "어제 카페에 갔어요."


def numbers(row: list[str]) -> list[float]:
    return [float(cell.replace("−∞", "-inf").replace(",", "")) for cell in row]


def figures(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", text)]


def weights_of(table: list[list[str]]) -> np.ndarray:
    return np.array([numbers(row[1:]) for row in table[1:]])


@pytest.mark.parametrize(("lang", "width", "scheme"), [("en", 1280, "light"), ("ko", 390, "dark")])
def test_every_view_opens(explorer, views, lang, width, scheme):
    page = explorer.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for view in views:
        explorer.open(view, lang=lang)
        assert page.locator("h1").inner_text() == page.locator(f'nav a[data-view="{view}"]').inner_text()
        assert page.locator("nav a[aria-current]").count() == 1
        assert page.locator("main > .problem:not([hidden])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the page"
        tables = explorer.tables()
        assert all(len(table) > 1 for table in tables) and (tables or view == "tokens")
        text = page.locator("main").inner_text()
        assert not re.search(r"undefined|NaN|\[object|\{\d\}|Infinity", text), view
        assert bool(re.search("[가-힣]", page.locator(".question").inner_text())) == (lang == "ko")
        unnamed = page.evaluate(
            """[...document.querySelectorAll("main input, main select")].filter((one) => !one.labels.length)
                .concat([...document.querySelectorAll("main svg, main [role]")].filter((one) =>
                    ["img", "application", "group", "region", "link", "button"].includes(one.getAttribute("role"))
                        && !one.getAttribute("aria-label"))).map((one) => one.outerHTML.slice(0, 80))"""
        )
        assert unnamed == [], view


def test_both_languages_say_everything(explorer):
    explorer.open("map")
    missing = explorer.page.evaluate(
        """async () => {
            const { views } = await import("jumok/views.js"), { words } = await import("jumok/strings.js");
            const sets = [["shell", words], ...views.map((view) => [view.id, view.strings])];
            return sets.flatMap(([name, { en, ko }]) => [...new Set([...Object.keys(en), ...Object.keys(ko)])]
                .filter((key) => !(key in en) || !(key in ko)).map((key) => `${name}.${key}`));
        }"""
    )
    assert missing == []


def test_translate(explorer, look: Look):
    explorer.open("translate")
    pair = look.subject.pair(SOURCE, None)
    assert explorer.part("translation") == look.subject.text(pair.tgt_ids)
    sure = [round(100 * one.gold.probability) for one in predictions(look.subject, pair)]
    said = explorer.page.locator(".said button small").all_inner_texts()
    assert all(abs(int(text[:-1]) - expected) <= 1 for text, expected in zip(said, sure, strict=True))
    assert explorer.page.locator("main ol li").count() == 3
    explorer.slide("beam", 1)
    assert explorer.page.locator("main ol li").count() == 1
    heading = explorer.page.locator("main h2").first
    before = heading.inner_text()
    explorer.page.locator(".said button").last.hover()
    assert heading.inner_text() != before
    assert "</s>" in heading.inner_text() or pair.tgt_out_labels[-1] in heading.inner_text()


def test_map_leads_to_the_views(explorer, look: Look):
    explorer.open("map")
    assert f"{look.subject.model.num_parameters():,} parameters" in explorer.page.locator("main").inner_text()
    pair = look.subject.pair(SOURCE, None)
    assert figures(explorer.part("sizes")) == [len(pair.src_labels), len(pair.tgt_out_labels)]
    explorer.page.locator('[data-block="encoder_self"]').press("Enter")
    explorer.page.locator("#view-heads").wait_for()
    assert explorer.settle().control("kind").input_value() == "encoder"


def test_tokens(explorer, look: Look):
    explorer.open("tokens")
    for side, tokenizer in enumerate((look.subject.src_tokenizer, look.subject.tgt_tokenizer)):
        text = (SOURCE, look.subject.text(look.subject.pair(SOURCE, None).tgt_ids))[side]
        ids = [int(row[2]) for row in explorer.tables()[side][1:]]
        assert ids == tokenizer.encode([text])[0]
    spelled = explorer.write("힣").tables()[0][1:]
    assert " ".join(row[3] for row in spelled).endswith("ED 9E A3")  # never seen: its bytes


def test_positions(explorer):
    explorer.open("positions")
    tables = position_tables(24, 32)
    vectors, distances, similar = explorer.tables()
    assert np.allclose(weights_of(vectors), tables["sinusoidal"].vectors, atol=2e-3)
    assert np.allclose(weights_of(distances), tables["sinusoidal"].distances, atol=5e-3)
    assert len(similar) == 1 + 2 * 24 - 1
    clock = explorer.page.locator(".clock svg").first
    before = clock.get_attribute("aria-label")
    explorer.slide("k", -5)
    assert "PE(0)" in clock.get_attribute("aria-label") != before
    assert figures(explorer.part("rotation-error"))[0] < 2e-3
    explorer.page.locator('[data-way="bits"]').click()
    assert np.allclose(weights_of(explorer.settle().tables()[1]), tables["bits"].distances, atol=5e-3)
    explorer.slide("length", 10)
    assert len(explorer.tables()[1]) == 11


def test_one_attention(explorer, look: Look):
    explorer.open("one", kind="decoder", layer=2, head=3, **{"from": 2})
    head = trace_of(look.subject, look.subject.pair(SOURCE, None)).decoder[1].head(2)
    scores, scaled, masked, weights = map(weights_of, explorer.tables()[:4])
    assert np.allclose(scores, head.scores, atol=0.02)
    assert np.allclose(scaled, head.scores / math.sqrt(8), atol=0.02)
    assert np.array_equal(np.isneginf(masked), head.visible == 0)
    assert np.allclose(weights, head.weights, atol=2e-3)
    entropy = -(head.weights[2] * np.log2(np.where(head.weights[2] > 0, head.weights[2], 1))).sum()
    shown = explorer.part("entropy")
    assert abs(float(re.search(r": (\d\.\d\d) bits", shown)[1]) - entropy) < 0.02
    explorer.control("scale").uncheck()
    explorer.settle()
    assert explorer.part("entropy") != shown
    assert np.allclose(weights_of(explorer.tables()[3]).sum(axis=1), 1, atol=5e-3)


def test_masks(explorer):
    explorer.open("masks")
    assert "No earlier prediction moved" in explorer.part("verdict")
    padding, causal, cross, softmax, _ = explorer.tables()
    size = len(causal) - 1
    assert np.array_equal(weights_of(causal), np.tril(np.ones((size, size))))
    assert weights_of(padding)[1, -1] == 0 and weights_of(cross).min() == 1
    sums = numbers(softmax[-1][2:])
    assert sums[:2] == [1, 1] and sums[2] < 1
    explorer.control("causal").uncheck()
    explorer.settle()
    assert re.search("moved", explorer.part("verdict")) and "not by a hair" not in explorer.part("verdict")
    explorer.control("causal").check()
    explorer.control("fill").select_option("zero_before")
    explorer.settle()
    assert "not by a hair" not in explorer.part("verdict")  # such a mask hides nothing


def test_heads(explorer, look: Look):
    explorer.open("heads")
    pair = look.subject.pair(SOURCE, None)
    trace = trace_of(look.subject, pair)
    assert np.allclose(weights_of(explorer.tables()[0]), trace.cross[0].head(0).weights, atol=2e-3)
    explorer.page.locator('[data-head="2-4"]').click()
    explorer.settle()
    assert np.allclose(weights_of(explorer.tables()[0]), trace.cross[1].head(3).weights, atol=2e-3)
    arcs = weights_of(explorer.tables()[1])
    assert np.allclose(arcs, np.stack([trace.cross[1].head(i).weights[0] for i in range(4)], axis=1), atol=2e-3)
    explorer.page.locator('[data-action="silence"]').click()
    with_head, without = figures(explorer.page.locator('main [role="status"] p').first.inner_text())
    total = sum(math.log(one.gold.probability) for one in predictions(look.subject, pair))
    assert abs(with_head - total) < 0.02 and without != with_head
    explorer.control("kind").select_option("encoder")
    assert len(explorer.settle().tables()[0]) == len(pair.src_labels) + 1


def test_lanes(explorer, look: Look):
    explorer.open("lanes", target="I see the sea.")
    gold, free, overwritten = explorer.tables()
    found = predictions(look.subject, look.subject.pair(SOURCE, "I see the sea."))
    assert [row[1] for row in gold[1:]] == [one.top[0].label for one in found]
    assert np.allclose([float(row[2]) for row in gold[1:]], [one.top[0].probability for one in found], atol=1e-3)
    assert overwritten[1] == [*free[1], ""] and overwritten[2][3] == "overwritten"
    explorer.control("by").fill("school")
    explorer.control("by").press("Enter")
    assert explorer.settle().tables()[2] != overwritten


def test_loss(explorer, look: Look):
    explorer.open("loss", position=1)
    one = predictions(look.subject, look.subject.pair(SOURCE, None))[1]
    plain, smoothed, _, least = figures(explorer.part("losses"))
    assert abs(plain + math.log(one.gold.probability)) < 2e-3 and smoothed > least
    table = explorer.tables()[0]
    assert abs(sum(float(row[2]) for row in table[1:]) - 1) < 1e-4
    explorer.slide("epsilon", 0)
    assert figures(explorer.part("losses"))[1] == plain
    explorer.control("position").select_option("0")
    assert figures(explorer.settle().part("losses"))[0] != plain


def test_beam(explorer, look: Look):
    explorer.open("beam")
    subject = look.subject
    hypotheses = subject.search(subject.source_ids(SOURCE), subject.config.decoding)
    assert explorer.part("translation") == subject.text(hypotheses[0].ids)
    finals = explorer.tables()[-1]
    assert np.allclose([float(row[1]) for row in finals[1:]], [one.score for one in hypotheses], atol=2e-3)
    rows = explorer.page.locator(".node").count()
    explorer.slide("beam", 1)
    assert explorer.page.locator(".node").count() < rows
    explorer.slide("step", 2)
    assert "2 / " in explorer.page.locator("main output").last.inner_text()
    explorer.slide("beam", 3)
    pruned = explorer.page.locator(".node.pruned").first
    label = pruned.locator("text").text_content()
    pruned.press("Enter")
    explorer.page.locator('[data-action="free"]').wait_for()
    assert explorer.settle().page.locator(".node.chosen text").first.text_content() == label
    explorer.page.locator('[data-action="free"]').click()
    assert explorer.settle().page.locator(".node").count() == rows


def test_stream(explorer, look: Look):
    explorer.open("stream")
    points = stream_of(look.subject, look.subject.pair(SOURCE, None))
    expected = [[one.mean, one.variance, one.rms] for side in ("encoder", "decoder") for one in points[side]]
    assert np.allclose(weights_of(explorer.tables()[0]), expected, atol=2e-3)
    assert explorer.part("gradient") == ""
    explorer.control("off").check()
    assert "largest" in explorer.settle().part("gradient")
    assert len(explorer.tables()[1][0]) == 3


def test_training(explorer):
    explorer.open("training")
    *curves, checkpoints, samples = explorer.tables()
    assert [row[1] for row in curves[0][1:]] == ["5.000", "2.500"] and len(curves) == 4
    assert [row[0] for row in checkpoints[1:]] == ["10", "20"] == [row[0] for row in samples[1:]]
    assert explorer.write("학교에 갔어요.").tables()[-2] != checkpoints
