"""The page itself: the address keeps its state, Korean is composed in peace, mistakes are said, keys suffice."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_address_keeps_the_state(explorer):
    page = explorer.page
    explorer.open("one", kind="encoder", layer=2, head=3, lang="ko", scale=0)
    before = explorer.part("entropy")
    page.reload()
    assert explorer.settle().part("entropy") == before and page.locator("html").get_attribute("lang") == "ko"
    page.locator('nav a[data-view="loss"]').click()
    page.locator("#view-loss").wait_for()
    explorer.settle().slide("epsilon", 0.3)
    assert "epsilon=0.3" in page.url and "view=loss" in page.url
    page.go_back()
    page.locator("#view-one").wait_for()
    assert explorer.settle().part("entropy") == before
    page.go_forward()
    page.locator("#view-loss").wait_for()
    assert explorer.settle().control("epsilon").input_value() == "0.3"


def test_what_stands_in_the_address_can_be_anything(explorer):
    explorer.open("heads", layer="x", head=99, kind="none", **{"from": -3})
    assert explorer.page.locator('[data-head="1-4"][aria-pressed="true"]').count() == 1
    explorer.open("beam", beam="many", step="?", alpha="")
    assert explorer.control("beam").input_value() == "3"


def test_nothing_is_sent_in_the_middle_of_a_syllable(explorer):
    explorer.open("translate")
    page = explorer.page
    box = page.locator('[data-part="text"]')
    box.fill("")
    page.wait_for_timeout(500)
    assert "empty" in explorer.problem()
    box.focus()
    explorer.asked.clear()
    keyboard = page.context.new_cdp_session(page)
    for syllable, steps in (("가", "ㄱ가"), ("요", "ㅇ요")):
        for step in steps:
            keyboard.send("Input.imeSetComposition", {"text": step, "selectionStart": 1, "selectionEnd": 1})
            page.wait_for_timeout(450)  # longer than the page waits after a key
        assert explorer.asked == []
        keyboard.send("Input.insertText", {"text": syllable})
    with page.expect_response("**/api/translate") as response:
        pass
    assert response.value.request.post_data_json == {"text": "가요"}
    explorer.settle()
    assert len([url for url in explorer.asked if url.endswith("/api/translate")]) == 1


def test_mistakes_are_said_and_forgotten(explorer):
    explorer.open("heads", lang="ko")
    page = explorer.page
    box = page.locator('[data-part="text"]')
    box.fill("   ")
    assert "비어" in explorer.problem()
    box.fill("가나 " * 300)
    page.get_by_text("더 짧은").wait_for()
    assert "200개까지" in explorer.problem()
    page.context.set_offline(True)
    box.fill("학교에 갔어요.")
    page.get_by_text("응답하지 않습니다").wait_for()
    page.context.set_offline(False)
    box.fill("시장에 갔어요.")
    page.locator("main > .problem").wait_for(state="hidden")
    assert "▁시장에" in page.locator("main").inner_text() or "시장" in page.locator("main").inner_text()
    assert all("Failed to load resource" in complaint for complaint in explorer.complaints)
    explorer.complaints.clear()  # the browser's own lines about the two requests that failed


@pytest.mark.parametrize("view", ["translate", "heads"])
def test_keys_reach_everything(explorer, view):
    page = explorer.open(view).page
    wanted = page.evaluate("""[...document.querySelectorAll(
        "a[href], button, input, select, textarea, summary, [tabindex='0']")].length""")
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("""[...document.querySelectorAll("*")].indexOf(document.activeElement)"""))
    assert len(reached) >= wanted


def test_arrows_walk_over_a_map(explorer):
    page = explorer.open("heads").page
    drawing = page.locator("svg[role=application]").first
    drawing.focus()
    cells = explorer.tables()[0]
    readout = page.locator(".readout").first
    assert readout.inner_text() == f"{cells[1][0]} → {cells[0][1]}: {cells[1][1]}"
    drawing.press("ArrowDown")
    drawing.press("ArrowRight")
    assert readout.inner_text() == f"{cells[2][0]} → {cells[0][2]}: {cells[2][2]}"


def test_focus_stays_where_it_was(explorer):
    page = explorer.open("heads").page
    head = page.locator('[data-head="1-3"]')
    head.press("Enter")
    explorer.settle()
    assert page.evaluate("document.activeElement.dataset.head") == "1-3"
    page.locator('[data-switch="language"]').press("Enter")
    explorer.settle()
    assert page.evaluate("document.activeElement.dataset.switch") == "language"
    page.locator('[data-switch="theme"]').press("Enter")
    assert page.locator("html").get_attribute("data-theme") == "light"
    page.locator(".skip").press("Enter")
    assert page.evaluate("document.activeElement.id") == "view" and "view=heads" in page.url


def test_exported_page_shows_the_same(explorer, views, run, program, tmp_path: Path):
    page_file = tmp_path / "page.html"
    subprocess.run([*program, "serve", str(run.path), "--export", str(page_file)], check=True, capture_output=True)
    served = {view: explorer.open(view).tables() for view in views}
    translation = explorer.open("translate").part("translation")
    page = explorer.page.context.browser.new_page(locale="en-US")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    alone = type(explorer)(page, page_file.as_uri())
    assert {view: alone.open(view).tables() for view in views} == served
    assert alone.open("translate").part("translation") == translation
    alone.control("beam").fill("1")
    assert "copy made for one sentence" in alone.problem()
    alone.control("beam").fill("3")
    page.locator("main > .problem").wait_for(state="hidden")
    assert alone.complaints == []
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "about"}
    page.close()
