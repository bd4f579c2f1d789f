"""Unknown words and the source words that they came from."""

from __future__ import annotations

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sentence import Sentence
from jumok.decoding.unknown import replacement, sources_of_unknowns
from jumok.errors import UsageError
from jumok.text.tokenizer import UNK_ID

CONFIG = DecodingConfig(replace_unknown=True)


def test_the_lexicon_comes_first_then_the_word_itself():
    lexicon = {"Hund": "dog"}
    assert replacement("▁Hund", lexicon) == "▁dog"
    assert replacement("▁Zug", lexicon) == "▁Zug"
    assert replacement("▁(￭", lexicon) == "▁(￭"  # with the spaces that it has


def test_each_unknown_comes_from_the_piece_that_it_looked_at_most_and_never_from_the_end(tiny_transformer):
    model = tiny_transformer()
    sentences = [Sentence([5, 6, 7]), Sentence([8]), Sentence([9, 10])]
    found = [
        [Hypothesis([UNK_ID, 12, UNK_ID], 0.0, 0.0), Hypothesis([12], 0.0, 0.0)],
        [Hypothesis([11, UNK_ID], 0.0, 0.0)],
        [Hypothesis([11], 0.0, 0.0)],
    ]
    places = sources_of_unknowns(model, sentences, found, CONFIG)
    src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, UNK_ID, 12, UNK_ID]])
    looks = model.forward_with_alignment(src, tgt)[1][0]
    assert places == [[[int(looks[t, :3].argmax()) for t in (0, 2)], []], [[0]], [[]]]


def test_without_unknowns_no_attention_is_needed(prefix_model):
    model = prefix_model(lambda *_: [])
    assert sources_of_unknowns(model, [Sentence([5])], [[Hypothesis([6], 0.0, 0.0)]], CONFIG) == [[[]]]
    message = "^decoding.replace_unknown = true: PrefixModel has no attention to the source"
    with pytest.raises(UsageError, match=message):
        sources_of_unknowns(model, [Sentence([5])], [[Hypothesis([UNK_ID], 0.0, 0.0)]], CONFIG)
