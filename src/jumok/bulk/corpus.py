"""The table to translate, cut into blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from jumok.bulk.places import first_line, locate
from jumok.errors import DataError


@dataclass(frozen=True)
class Block:
    """A range of rows; what a worker does at a time."""

    number: int
    file: str
    first: int  # row of the file
    num_rows: int
    start: int  # row of the whole corpus

    @property
    def name(self) -> str:
        """Its file: the order of the names is the order of the rows."""
        return f"part-{self.number:06d}.parquet"


@dataclass(frozen=True)
class CorpusFile:
    """By what a file is known again without reading it."""

    name: str
    size: int
    num_rows: int
    footer: str  # its hash: sizes, places and extremes of every column, which other data would not share


@dataclass(frozen=True)
class Corpus:
    """A Parquet file, or the files of a folder in the order of their names."""

    paths: list[str]
    files: list[CorpusFile]
    schema: pa.Schema

    @classmethod
    def open(cls, source: str | Path, column: str, output_column: str) -> Corpus:
        """Find the files and refuse what cannot be translated."""
        filesystem, path = locate(source)
        kind = filesystem.get_file_info(path).type
        if kind == fs.FileType.NotFound:
            raise DataError(f"{source}: no such file or directory; expected a Parquet file or a folder of them")
        paths = [path]
        if kind == fs.FileType.Directory:
            found = filesystem.get_file_info(fs.FileSelector(path))
            paths = sorted(i.path for i in found if i.base_name.endswith(".parquet") and i.base_name[0] not in "._")
            if not paths:
                raise DataError(f"{source}: holds no .parquet file")
        with ThreadPoolExecutor(16) as pool:
            described = list(pool.map(lambda each: _describe(filesystem, each), paths))
        schema = described[0][1]
        for path, (_, other) in zip(paths, described, strict=True):
            if not other.equals(schema):
                raise DataError(f"{path}: its columns are not those of {paths[0]}; translate them apart")
        _check_columns(source, schema, column, output_column)
        return cls(paths, [file for file, _ in described], schema)

    @property
    def num_rows(self) -> int:
        """Of all files."""
        return sum(file.num_rows for file in self.files)

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Ranges of rows; none crosses from file to file, and a file without rows gives one without."""
        number = start = 0
        for path, file in zip(self.paths, self.files, strict=True):
            for first in range(0, max(file.num_rows, 1), block_rows):
                num_rows = min(block_rows, file.num_rows - first)
                yield Block(number, path, first, num_rows, start)
                number, start = number + 1, start + num_rows


def _describe(filesystem: fs.FileSystem, path: str) -> tuple[CorpusFile, pa.Schema]:
    try:
        with filesystem.open_input_file(path) as file, pq.ParquetFile(file) as parquet:
            footer = pa.BufferOutputStream()
            parquet.metadata.write_metadata_file(footer)
            digest = hashlib.sha256(footer.getvalue()).hexdigest()
            name = path.rsplit("/", 1)[-1]
            return CorpusFile(name, file.size(), parquet.metadata.num_rows, digest), parquet.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: is not a Parquet file that can be read: {first_line(error)}") from None


def _check_columns(source: str | Path, schema: pa.Schema, column: str, output_column: str) -> None:
    if column not in schema.names:
        raise DataError(f"{source}: has no column {column}; there are: {', '.join(schema.names)}")
    kind = schema.field(column).type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)):
        texts = [field.name for field in schema if pa.types.is_string(field.type)]
        raise DataError(
            f"{source}: column {column} holds {kind} and not text"
            + (f"; columns of text: {', '.join(texts)}" if texts else "")
        )
    if output_column in schema.names:
        raise DataError(f"{source}: has a column {output_column} already; name another one for the translations")


def read_block(filesystem: fs.FileSystem, block: Block) -> pa.Table:
    """The rows of a block, from the row groups that hold them."""
    try:
        with filesystem.open_input_file(block.file) as file, pq.ParquetFile(file) as parquet:
            groups: list[int] = []
            offset = end = 0
            for group in range(parquet.metadata.num_row_groups):
                begin, end = end, end + parquet.metadata.row_group(group).num_rows
                if begin < block.first + block.num_rows and end > block.first:
                    offset = offset if groups else block.first - begin
                    groups.append(group)
            return parquet.read_row_groups(groups).slice(offset, block.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{block.file}: rows {block.first:,} to {block.first + block.num_rows:,} cannot be read here: "
            f"{first_line(error)}; is the file the same on every machine?"
        ) from None
