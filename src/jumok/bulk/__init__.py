"""A corpus too large for one machine: a Parquet table translated block by block through Ray Data.

translate_parquet("runs/demo", "corpus.parquet", "translated/")

    IN.parquet, rows 0 … 9,999       ->  OUT/part-000000.parquet     all columns and the translation
    IN.parquet, rows 10,000 …        ->  OUT/part-000001.parquet     …
                                         OUT/_blocks.json            what the blocks were made of

A block is a fixed range of rows, so that its file does not depend on which worker makes it or when. The file appears
whole, under its name, when the block is finished: a second start does the blocks whose files are missing, and Ray gives
the block of a worker that died to another one. Ray only carries the numbers of rows; texts go from file to file.
"""

from __future__ import annotations

from jumok.bulk.table import BulkResult, translate_parquet

__all__ = ["BulkResult", "translate_parquet"]
