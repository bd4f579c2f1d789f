"""Several systems on the same data under an equal budget: the paper's Table 2 for one's own corpus.

From a file to a table: config (what is compared) and catalogue (every system that has a name) → runner (trains each
as an ordinary run) → measures (figures) → results (what was found) → presentation, page, plots (what is shown).
"""
