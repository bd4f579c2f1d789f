"""The folder of translated blocks, and how it is known what they were made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from jumok.bulk.corpus import Block
from jumok.bulk.places import first_line, locate
from jumok.errors import ResourceError, UsageError

MOST_TRIES = 5  # of a block whose workers die; then the block itself is taken for the reason
MANIFEST = "_blocks.json"  # readers of a folder of Parquet files pass over names that begin with _ or .


class Output:
    """A folder of finished blocks."""

    def __init__(self, folder: str | Path) -> None:
        self._shown = folder
        self._filesystem, self._path = locate(folder)
        self._manifest = f"{self._path}/{MANIFEST}"

    def begin(self, manifest: dict[str, Any]) -> None:
        """Take the folder for this work, or refuse it where it holds something else."""
        kind = self._filesystem.get_file_info(self._path).type
        if kind == fs.FileType.File:
            raise UsageError(f"{self._shown}: is a file; expected a folder for the translated blocks")
        if kind == fs.FileType.NotFound:
            with self._explained():
                self._filesystem.create_dir(self._path)
        infos = self._filesystem.get_file_info(fs.FileSelector(self._path))
        earlier = self.manifest()
        if earlier is None and any(not info.base_name.startswith(".") for info in infos):
            raise UsageError(
                f"{self._shown}: is not empty and holds no {MANIFEST} of an earlier start; choose another folder"
            )
        if earlier is None:
            self._put(MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())
        elif earlier != manifest:
            raise UsageError(
                f"{self._shown}: was begun with another {_difference(earlier, manifest)}; give the same again, "
                "or choose another folder"
            )
        for info in infos:  # of a worker that was killed while it wrote
            if info.base_name.startswith((".part-", f".{MANIFEST}")):
                self._filesystem.delete_file(info.path)

    def manifest(self) -> Any:
        """What the folder was begun with; None where it cannot be read."""
        try:
            with self._filesystem.open_input_file(self._manifest) as file:
                return json.loads(file.read())
        except (OSError, ValueError):
            return None

    def missing(self, blocks: list[Block]) -> list[Block]:
        """Blocks that are still to do, those whose file is damaged among them."""
        infos = self._filesystem.get_file_info(fs.FileSelector(self._path))
        there = {info.base_name for info in infos}
        with ThreadPoolExecutor(16) as pool:
            is_done = list(pool.map(lambda block: block.name in there and self._is_whole(block), blocks))
        return [block for block, done in zip(blocks, is_done, strict=True) if not done]

    def _is_whole(self, block: Block) -> bool:
        path = f"{self._path}/{block.name}"
        try:
            with self._filesystem.open_input_file(path) as file, pq.ParquetFile(file) as parquet:
                return bool(parquet.metadata.num_rows == block.num_rows)
        except (pa.ArrowException, OSError):
            return False

    def note_try(self, block: Block) -> None:
        """Leave a sign that somebody works on this block; refuse one that many have died of."""
        for path in self._signs(block):
            if self._filesystem.get_file_info(path).type == fs.FileType.NotFound:
                with self._explained(), self._filesystem.open_output_stream(path) as file:
                    file.write(b"")
                return
        raise ResourceError(
            f"{block.file}: rows {block.first:,} to {block.first + block.num_rows:,}: {MOST_TRIES} workers died in "
            "a row on them; is it memory? Take fewer workers or smaller blocks"
        )

    def _signs(self, block: Block) -> list[str]:
        return [f"{self._path}/.{block.name}.try-{number}" for number in range(1, MOST_TRIES + 1)]

    def write(self, block: Block, table: pa.Table) -> None:
        """Write a block's file, and take the signs away."""
        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, compression="zstd")
        self._put(block.name, buffer.getvalue())
        for path in self._signs(block):
            with suppress(OSError):
                self._filesystem.delete_file(path)

    def _put(self, name: str, data: Any) -> None:
        """Under another name first, so that who sees the name sees the whole."""
        temporary = f"{self._path}/.{name}.{uuid4().hex}"
        with self._explained():
            try:
                with self._filesystem.open_output_stream(temporary) as file:
                    file.write(data)
                self._filesystem.move(temporary, f"{self._path}/{name}")
            except BaseException:
                with suppress(OSError):
                    self._filesystem.delete_file(temporary)
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ResourceError(
                f"{self._shown}: could not be written: {first_line(error)}; what is finished stays, the same command "
                "goes on"
            ) from None


def _difference(earlier: Any, now: dict[str, Any]) -> str:
    """Which part of the manifest differs, with both values where they tell something."""
    if not isinstance(earlier, dict) or earlier.keys() != now.keys():
        return "version of jumok"
    key = next(key for key in now if earlier[key] != now[key])
    if key in ("input", "run", "glossary"):  # hashes
        return key
    return f"{key} ({earlier[key] or 'none'} then, {now[key] or 'none'} now)"
