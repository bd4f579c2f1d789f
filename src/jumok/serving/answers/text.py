"""What the model says, and which pieces it reads."""

from __future__ import annotations

import math

import numpy as np

from jumok.decoding.look_back import look_back
from jumok.decoding.sentence import Sentence
from jumok.inspection.labels import label_pieces
from jumok.inspection.predictions import Prediction, predictions
from jumok.serving.answers.look import Answer, Look
from jumok.serving.arrays import pack
from jumok.serving.questions import TokensQuestion, TranslateQuestion
from jumok.text.normalization import normalize

_NUM_ALTERNATIVES = 6


def translate(look: Look, question: TranslateQuestion) -> Answer:
    """The translation, other ones, what could have been said in each place, and where the model looked."""
    subject = look.subject
    asked = {"beam": question.beam, "length_penalty": question.length_penalty}
    changes = {name: value for name, value in asked.items() if value is not None}
    decoding = subject.config.decoding.model_copy(update=changes)
    src_ids = subject.source_ids(question.text)
    hypotheses = subject.search(src_ids, decoding)
    best = hypotheses[0]
    pair = subject.pair_of_ids(src_ids, best.ids)
    found = predictions(subject, pair, _NUM_ALTERNATIVES)
    answer: Answer = {
        "text": subject.text(best.ids),
        "hypotheses": [{"text": subject.text(one.ids), "score": one.score} for one in hypotheses[: question.n_best]],
        "src_labels": pair.src_labels,
        "tgt_labels": pair.tgt_out_labels,
        "log_probs": [math.log(max(one.gold.probability, 1e-30)) for one in found],
        "alternatives": [_alternatives(one) for one in found],
    }
    if subject.model.has_attention:
        seen = look_back(subject.model, [Sentence(src_ids)], [[best]], decoding)[0][0].attention
        assert seen is not None
        attention = np.zeros((len(pair.tgt_out_labels), len(pair.src_labels)), np.float32)
        attention[: len(seen)] = seen  # a translation that was cut off has not said its end mark
        answer["attention"] = pack(attention)
    return answer


def _alternatives(at: Prediction) -> list[Answer]:
    """The likeliest pieces in one place, what was said always among them."""
    is_among = any(one.piece == at.gold.piece for one in at.top)
    shown = at.top if is_among else [*at.top[:-1], at.gold]
    return [{"label": one.label, "p": one.probability, "is_said": one.piece == at.gold.piece} for one in shown]


def tokens(look: Look, question: TokensQuestion) -> Answer:
    """Pieces, ids and bytes of a text."""
    tokenizer = look.subject.src_tokenizer if question.side == "source" else look.subject.tgt_tokenizer
    ids = tokenizer.encode([question.text])[0]
    pieces = tokenizer.id_to_piece(ids)
    return {
        "normalized": normalize(question.text),
        "vocab_size": tokenizer.vocab_size,
        "pieces": [
            {
                "piece": piece,
                "label": label,
                "id": i,
                "bytes": _bytes_of(piece),
                "is_byte": piece.startswith("<0x"),
                "starts_word": piece.startswith("▁"),
            }
            for piece, label, i in zip(pieces, label_pieces(pieces), ids, strict=True)
        ],
    }


def _bytes_of(piece: str) -> str:
    if piece.startswith("<0x"):
        return piece[3:5]
    return piece.replace("▁", " ").encode().hex(" ").upper()
