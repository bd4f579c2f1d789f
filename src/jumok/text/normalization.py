"""One spelling for one text."""

from __future__ import annotations

import re
import unicodedata

# What some tools count as the end of a line inside a line: "a line in is a line out" must survive them.
INNER_LINE_ENDS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def normalize(text: str) -> str:
    """NFC, so that a Hangul syllable is one character however it was typed; one line; no spaces at the ends."""
    return INNER_LINE_ENDS.sub(" ", unicodedata.normalize("NFC", text)).strip()
