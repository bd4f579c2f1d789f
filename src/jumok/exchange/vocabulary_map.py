"""Which target pieces a source piece may become, learned from the training pairs: less vocabulary to project to.

For a sentence only the pieces that its own pieces point to, and those that any sentence may need, are computed. The
translation probabilities are those of IBM Model 1.

Paper: Brown et al. 1993, section 4.2 (Model 1); Jean et al. 2015 (candidate lists for the output layer).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jumok.data.readers import read_pairs
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import EOS_ID, Tokenizer

_MAX_PAIRS = 200_000  # the first so many are enough to learn from
_MAX_LINKS = 30_000_000  # pairs of pieces; above this it would take gigabytes
_MAX_LENGTH = 100
_NUM_ROUNDS = 5
NUM_FOR_ALL = 300  # the most frequent target pieces, which every sentence may use
NUM_FOR_PIECE = 30  # the likeliest translations of each source piece
Ids = Sequence[int]
Map = dict[int, list[int]]


def write_vocabulary_map(run: RunDirectory, path: Path) -> None:
    """Learn from the run's training pairs and write the file: a source piece, a tab, target pieces; first for all."""
    data = run.config().data
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    pairs = list(islice(read_pairs(data.train, data.source, data.target, data.folder), _MAX_PAIRS))
    sources = src_tokenizer.encode([src for src, _ in pairs])
    targets = tgt_tokenizer.encode([tgt for _, tgt in pairs])
    for_all, for_piece = learn_map(sources, targets, src_tokenizer.vocab_size, tgt_tokenizer.vocab_size)
    pieces = tgt_tokenizer.all_pieces()
    with path.open("w", encoding="utf-8") as file:
        file.write("\t" + " ".join(pieces[i] for i in for_all) + "\n")
        for src, src_piece in enumerate(src_tokenizer.all_pieces()):
            chosen = [*for_piece.get(src, []), *_same(src_piece, tgt_tokenizer)]
            if chosen:
                file.write(src_piece + "\t" + " ".join(pieces[i] for i in dict.fromkeys(chosen)) + "\n")


def learn_map(
    sources: Sequence[Ids],
    targets: Sequence[Ids],
    src_vocab_size: int,
    tgt_vocab_size: int,
    num_for_all: int = NUM_FOR_ALL,
    num_for_piece: int = NUM_FOR_PIECE,
) -> tuple[list[int], Map]:
    """The target pieces that every sentence may use, and those of each source piece, likeliest first."""
    src, tgt, token = _links(sources, targets)
    link_keys, which = np.unique(src * tgt_vocab_size + tgt, return_inverse=True)
    link_src, link_tgt = link_keys // tgt_vocab_size, link_keys % tgt_vocab_size
    probabilities = np.ones(len(link_keys))
    for _ in range(_NUM_ROUNDS):
        weights = probabilities[which]
        weights /= np.bincount(token, weights)[token]  # each target token is explained by its source once
        counts = np.bincount(which, weights, len(link_keys))
        probabilities = counts / np.bincount(link_src, counts, src_vocab_size)[link_src]
    frequency = np.bincount(
        np.concatenate([np.asarray(ids, dtype=np.int64) for ids in targets]), minlength=tgt_vocab_size
    )
    for_all = [EOS_ID, *(i for i in np.argsort(-frequency, kind="stable")[:num_for_all].tolist() if frequency[i])]
    is_own = ~np.isin(link_tgt, for_all)  # what every sentence may use takes no place in a piece's list
    link_src, link_tgt, probabilities = link_src[is_own], link_tgt[is_own], probabilities[is_own]
    order = np.lexsort((link_tgt, -probabilities, link_src))
    starts = np.searchsorted(link_src[order], np.arange(src_vocab_size + 1))
    for_piece = {
        piece: link_tgt[order[starts[piece] : min(starts[piece] + num_for_piece, starts[piece + 1])]].tolist()
        for piece in range(src_vocab_size)
        if starts[piece] < starts[piece + 1]
    }
    return for_all, for_piece


def _links(
    sources: Sequence[Ids], targets: Sequence[Ids]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every source token beside every target token of its sentence: their pieces, and which target token it is."""
    src_parts, tgt_parts, token_parts = [], [], []
    num_links = num_tokens = 0
    for src, tgt in zip(sources, targets, strict=True):
        if not src or not tgt or len(src) > _MAX_LENGTH or len(tgt) > _MAX_LENGTH:
            continue
        src_parts.append(np.tile(np.asarray(src, dtype=np.int64), len(tgt)))
        tgt_parts.append(np.repeat(np.asarray(tgt, dtype=np.int64), len(src)))
        token_parts.append(np.repeat(np.arange(num_tokens, num_tokens + len(tgt)), len(src)))
        num_tokens += len(tgt)
        num_links += len(src) * len(tgt)
        if num_links > _MAX_LINKS:
            break
    empty = np.zeros(0, dtype=np.int64)
    src_all, tgt_all, tokens = (np.concatenate([empty, *parts]) for parts in (src_parts, tgt_parts, token_parts))
    return src_all, tgt_all, tokens


def _same(src_piece: str, tgt_tokenizer: Tokenizer) -> list[int]:
    """The same piece in the target language: names and numbers are copied."""
    same = tgt_tokenizer.piece_to_id(src_piece)
    return [] if same is None else [same]
