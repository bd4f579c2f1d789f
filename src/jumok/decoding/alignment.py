"""Which source word each target word came from, read off the attention.

A word of the target is linked to the word of the source that its pieces looked at most; the end marks are no words.
Where a language has no spaces, its pieces are counted instead of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_WORD_START = "▁"
Link = tuple[int, int]  # (source word, target word)


def align_words(
    src_pieces: Sequence[str],
    tgt_pieces: Sequence[str],
    attention: NDArray[np.float32],
    src_has_spaces: bool = True,
    tgt_has_spaces: bool = True,
) -> list[Link]:
    """A link for each target word, in their order, from the attention (T, S) of a look back, end marks included.

    Paper: Garg et al. 2019, section 3, link a target piece to the source piece with the largest weight of one layer.
    Differs: the weights are summed over the pieces of a word first, on both sides.
    """
    src_words = word_of_piece(src_pieces, src_has_spaces)
    tgt_words = word_of_piece(tgt_pieces, tgt_has_spaces)
    if not src_words or not tgt_words:
        return []
    weights = np.zeros((tgt_words[-1] + 1, src_words[-1] + 1))
    of_pieces = attention[: len(tgt_words), : len(src_words)]
    np.add.at(weights, (np.array(tgt_words)[:, None], np.array(src_words)[None, :]), of_pieces)
    return [(int(src_word), tgt_word) for tgt_word, src_word in enumerate(weights.argmax(axis=1))]


def word_of_piece(pieces: Sequence[str], has_spaces: bool = True) -> list[int]:
    """The number of the word that each piece belongs to, as spaces cut the text; of the piece, without spaces."""
    if not has_spaces:
        return list(range(len(pieces)))
    words: list[int] = []
    word, is_empty = 0, True
    for piece in pieces:
        if piece.startswith(_WORD_START) and not is_empty:
            word, is_empty = word + 1, True
        is_empty = is_empty and not piece.strip(_WORD_START)  # a ▁ by itself: the word comes with the next piece
        words.append(word)
    return words


def pharaoh(links: Iterable[Link]) -> str:
    """Links as aligners write them: `0-0 1-2`, source before target, counted from 0."""
    return " ".join(f"{src_word}-{tgt_word}" for src_word, tgt_word in links)
