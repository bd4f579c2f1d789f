"""A table translated from start to end: what is asked is checked, what is missing is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jumok.bulk.corpus import Corpus
from jumok.bulk.output import Output
from jumok.bulk.places import absolute
from jumok.bulk.pool import import_ray, ray_session, translate_blocks
from jumok.bulk.worker import Job, run_files
from jumok.errors import UsageError
from jumok.storage.files import sha256
from jumok.storage.run_directory import RunDirectory
from jumok.text.glossary import Glossary
from jumok.translation import Options
from jumok.translator import Translator

BLOCK_ROWS = 10_000  # a minute or so of work, which is what a dead worker costs
_ONE_A_ROW = {"n_best": 1, "with_alignment": False, "with_token_scores": False}


@dataclass(frozen=True)
class BulkResult:
    """What a start has done."""

    num_rows: int
    num_blocks: int
    num_blocks_skipped: int  # they were there already
    num_cut_off: int  # translations of this start that reached the length limit
    seconds: float


def translate_parquet(
    run: str | Path,
    source: str | Path,
    folder: str | Path,
    *,
    address: str | None = None,
    column: str = "text",
    output_column: str = "translation",
    block_rows: int = BLOCK_ROWS,
    workers: int | None = None,
    threads: int | None = None,
    engine: str = "auto",
    compute: str = "auto",
    glossary: str | Path | None = None,
    say: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> BulkResult:
    """Translate a column of a Parquet file, or of a folder of them, into a folder; go on where an earlier start ended.

    `source` and `folder` are paths or URIs that pyarrow opens (s3://…), the same on every machine. `address` is a Ray
    cluster's, or Ray is started on this machine alone. `threads` is how many CPUs each of the `workers` has; the
    options are those of `Translator.translate`.
    """
    begun = time.monotonic()
    ray = import_ray()
    for name, number in (("block_rows", block_rows), ("workers", workers), ("threads", threads)):
        if number is not None and number < 1:
            raise UsageError(f"{name} = {number} must be at least 1")
    for name, value in _ONE_A_ROW.items():
        if options.get(name, value) != value:
            raise UsageError(f"{name}: a row of the table has one translation and no more; translate without --ray")
    corpus = Corpus.open(source, column, output_column)
    directory = RunDirectory(run)
    directory.require_model()
    manifest = {
        "input": {"files": [asdict(file) for file in corpus.files], "schema": corpus.schema.to_string()},
        "run": {file.name: sha256(file) for file in run_files(directory)},
        "column": column,
        "output_column": output_column,
        "block_rows": block_rows,
        "engine": engine,
        "compute": compute,
        "glossary": sha256(Path(glossary)) if glossary is not None and Path(glossary).is_file() else None,
        "options": {
            name: repr(value) for name, value in sorted(options.items()) if value != getattr(Options(), name, None)
        },
    }
    if glossary is not None:
        options["glossary"] = Glossary.read(glossary, directory.config().data.source)
    # Wrong options are found here, before anything is written, and the model is converted once for all workers.
    Translator.load(run, device="cpu", engine=engine, compute=compute).translate_scored(["."], **options)

    blocks = list(corpus.blocks(block_rows))
    output = Output(folder)
    output.begin(manifest)
    missing = output.missing(blocks)
    say(
        f"{source}: {corpus.num_rows:,} rows in {len(blocks):,} blocks, "
        f"{len(blocks) - len(missing):,} of them translated already"
    )
    num_cut_off = 0
    if missing:
        job = Job(absolute(source), absolute(folder), column, output_column, manifest, engine, compute, options)
        with ray_session(ray, address, sum(file.stat().st_size for file in run_files(directory, True))):
            num_cut_off = translate_blocks(ray, job, directory, missing, workers, threads, say)
    skipped = len(blocks) - len(missing)
    return BulkResult(corpus.num_rows, len(blocks), skipped, num_cut_off, time.monotonic() - begun)
