"""What a worker does: a block from file to file."""

from __future__ import annotations

import platform
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from jumok.bulk.corpus import Block, read_block
from jumok.bulk.output import Output
from jumok.bulk.places import locate
from jumok.errors import DataError, JumokError, UsageError
from jumok.storage.run_directory import RunDirectory
from jumok.translator import Translator


@dataclass(frozen=True)
class Job:
    """What every worker is told."""

    source: str
    folder: str
    column: str
    output_column: str
    manifest: dict[str, Any]
    engine: str
    compute: str
    options: dict[str, Any]


class Worker:
    """Translates one block after another in a process of its own, on whichever machine."""

    def __init__(self, job: Job, run_files: Any, threads: int) -> None:
        self._job = job
        self._run_files = run_files
        self._threads = threads

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Do a block; what goes back is what there is to count, or why it could not be done.

        Ray would wrap an error that is raised in pages of its own.
        """
        block, num_cut_off, kind, reason = Block(**row), 0, "", ""
        try:
            num_cut_off = self._translate(block)
        except JumokError as error:
            kind, reason = type(error).__name__, str(error)
        return {"num_rows": block.num_rows, "num_cut_off": num_cut_off, "error": kind, "reason": reason}

    def _translate(self, block: Block) -> int:
        """From file to file; the number of translations that were cut off."""
        job = self._job
        self._output.note_try(block)
        table = read_block(locate(job.source)[0], block)
        try:
            texts = [text or "" for text in table.column(job.column).to_pylist()]
        except UnicodeDecodeError:
            rows = f"rows {block.first:,} to {block.first + block.num_rows:,}"
            raise DataError(f"{block.file}: {rows}: column {job.column} holds text that is not UTF-8") from None
        options = dict(job.options)
        sampling = options.get("sampling")
        if sampling is not None and sampling.seed is not None:  # other draws for other rows
            options["sampling"] = replace(sampling, seed=sampling.seed + block.start)
        translations = self._translator.translate_scored(texts, **options)
        column = pa.array([translation.text for translation in translations], pa.string())
        self._output.write(block, table.append_column(job.output_column, column))
        return sum(not translation.hypotheses[0].is_complete for translation in translations)

    # Both are opened with the first block and not in the constructor, which Ray does not try again as it does a block.

    @cached_property
    def _output(self) -> Output:
        output = Output(self._job.folder)
        if output.manifest() != self._job.manifest:
            raise UsageError(
                f"{self._job.folder}: on {platform.node()} this is another folder; put it where all machines see it"
            )
        return output

    @cached_property
    def _translator(self) -> Translator:
        """The run, unpacked for as long as it takes to load it."""
        import ray

        job = self._job
        with tempfile.TemporaryDirectory(prefix="jumok-") as folder:
            for name, data in ray.get(self._run_files).items():
                path = Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
            translator = Translator.load(
                folder, device="cpu", engine=job.engine, compute=job.compute, threads=self._threads
            )
            translator.translate_scored(["."], **job.options)  # an engine is opened when it is first needed
            if "glossary" in job.options and job.engine != "ctranslate2":
                _ = translator.model  # opened while its files are there: sentences with a term need the other engine
        return translator


def run_files(run: RunDirectory, with_converted: bool = False) -> list[Path]:
    """What a worker needs of a run."""
    files = [*run.files_beside_the_weights(), run.model_file]
    if with_converted:
        files += sorted(file for file in (run.path / "ctranslate2").glob("*") if file.is_file())
    return files
