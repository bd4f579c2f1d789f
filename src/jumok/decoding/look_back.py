"""A look back at finished translations: how likely each piece was, and what the model looked at when it said it.

One teacher-forced pass over sources and hypotheses, all positions at once: a small part of what the search cost, and
nothing where nobody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from jumok.config import DecodingConfig
from jumok.data.batching import collate
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sentence import Sentence
from jumok.errors import explained_memory_errors
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import PAD_ID

_PROJECTED_AT_A_TIME = 1024  # tokens whose logits (V numbers each) are in memory together


def look_back(
    model: TranslationModel,
    sentences: Sequence[Sentence],
    hypotheses: Sequence[Sequence[Hypothesis]],
    config: DecodingConfig,
    use_attention: bool = True,
) -> list[list[Hypothesis]]:
    """The same hypotheses of each sentence with `piece_log_probs`, and with `attention` unless it is not wanted."""
    pairs = [(s, h) for s, of_sentence in enumerate(hypotheses) for h in range(len(of_sentence))]
    results = [list(of_sentence) for of_sentence in hypotheses]
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), explained_memory_errors("lower decoding.batch_tokens"):
            for rows in _batches(pairs, sentences, hypotheses, config.batch_tokens):
                sources, said = [sentences[s].ids for s, _ in rows], [hypotheses[s][h].ids for s, h in rows]
                batch = collate(sources, said).to(device)
                attention = None
                if use_attention:
                    hidden, attn_weights = model.forward_with_alignment(batch.src, batch.tgt_in)
                    attention = attn_weights.float().cpu().numpy()
                else:
                    hidden = model(batch.src, batch.tgt_in)
                log_probs = _log_probs(model, hidden, batch.tgt_out).tolist()
                for i, (s, h) in enumerate(rows):
                    num_said = len(said[i]) + hypotheses[s][h].is_complete  # the end mark too, unless it was cut off
                    looks = attention if attention is None else attention[i, :num_said, : len(sources[i]) + 1].copy()
                    results[s][h] = replace(results[s][h], piece_log_probs=log_probs[i][:num_said], attention=looks)
    finally:
        model.train(was_training)
    return results


def _log_probs(model: TranslationModel, hidden: Tensor, tgt_out: Tensor) -> Tensor:
    """Of each piece that was said (B, T); 0 for padding."""
    is_word = tgt_out != PAD_ID
    log_probs = [
        -F.cross_entropy(model.project(x).float(), piece, reduction="none")
        for x, piece in zip(
            torch.split(hidden[is_word], _PROJECTED_AT_A_TIME),
            torch.split(tgt_out[is_word], _PROJECTED_AT_A_TIME),
            strict=True,
        )
    ]
    return torch.zeros(tgt_out.shape, device=hidden.device).masked_scatter(is_word, torch.cat(log_probs))


def _batches(
    pairs: list[tuple[int, int]],
    sentences: Sequence[Sentence],
    hypotheses: Sequence[Sequence[Hypothesis]],
    batch_tokens: int,
) -> Iterator[list[tuple[int, int]]]:
    """Pairs of similar length together, longest first."""
    longest = {(s, h): max(len(sentences[s].ids), len(hypotheses[s][h].ids)) + 1 for s, h in pairs}
    order = sorted(pairs, key=lambda pair: -longest[pair])
    while order:
        num_rows = max(1, batch_tokens // longest[order[0]])
        yield order[:num_rows]
        order = order[num_rows:]
