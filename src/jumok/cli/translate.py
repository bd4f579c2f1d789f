"""`jumok translate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jumok.cli.options import Json

if TYPE_CHECKING:
    from jumok.translation import Translation

_SEARCH, _RULES, _DRAW, _BULK = "Search", "What a translation has to be", "Drawing at random", "Many machines"


def translate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN …] [FILE]",
            help="A run directory, such as runs/demo, or several that translate together; then a file with a text a "
            "line: standard input if not given.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write there instead of standard output.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Translate this text.")] = None,
    engine: Annotated[str, typer.Option(help="auto, ctranslate2 (fast) or torch (every option).")] = "auto",
    compute: Annotated[
        str, typer.Option(help="How ctranslate2 computes: auto, float32, int8 (faster, nearly the same).")
    ] = "auto",
    beam: Annotated[
        int | None, typer.Option(min=1, help="Hypotheses kept side by side; 1 is greedy.", rich_help_panel=_SEARCH)
    ] = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, help="Print so many translations of each line.", rich_help_panel=_SEARCH)
    ] = 1,
    patience: Annotated[
        float | None,
        typer.Option(min=1, help="Above 1 waits for more hypotheses to end.", rich_help_panel=_SEARCH),
    ] = None,
    length_penalty: Annotated[
        float | None, typer.Option(min=0, help="α: higher is longer.", rich_help_panel=_SEARCH)
    ] = None,
    coverage_penalty: Annotated[
        float | None, typer.Option(min=0, help="β: higher leaves less untranslated.", rich_help_panel=_SEARCH)
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Print the score before each translation.")] = False,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Print word alignments (0-0 1-2 …) behind each translation.")
    ] = False,
    token_scores: Annotated[
        bool, typer.Option("--token-scores", help="With --json: pieces and their log-probabilities.")
    ] = False,
    prefix: Annotated[str, typer.Option(help="Every translation begins with this text.", rich_help_panel=_RULES)] = "",
    glossary: Annotated[
        Path | None,
        typer.Option(
            metavar="TERMS.TSV", help="Source term, tab, target term: must come out so.", rich_help_panel=_RULES
        ),
    ] = None,
    min_length: Annotated[int | None, typer.Option(min=0, help="Pieces at least.", rich_help_panel=_RULES)] = None,
    no_repeat_ngram: Annotated[
        int | None, typer.Option(min=0, help="No so many pieces in a row twice.", rich_help_panel=_RULES)
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw at random instead of searching.", rich_help_panel=_DRAW)
    ] = False,
    temperature: Annotated[float, typer.Option(help="Above 1 is bolder, below 1 safer.", rich_help_panel=_DRAW)] = 1.0,
    top_k: Annotated[
        int, typer.Option("--top-k", help="Only the k likeliest pieces; 0: all.", rich_help_panel=_DRAW)
    ] = 0,
    top_p: Annotated[float, typer.Option("--top-p", help="Only the likeliest mass p.", rich_help_panel=_DRAW)] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Repeat the same draws.", rich_help_panel=_DRAW)] = None,
    bayes_risk: Annotated[
        int,
        typer.Option(
            "--mbr", min=0, metavar="N", help="Draw N, print the one most like the others.", rich_help_panel=_DRAW
        ),
    ] = 0,
    ray: Annotated[
        bool, typer.Option("--ray", help="RUN IN.parquet OUT/: translate through Ray.", rich_help_panel=_BULK)
    ] = False,
    address: Annotated[
        str | None, typer.Option(help="With --ray: the cluster; this machine if not given.", rich_help_panel=_BULK)
    ] = None,
    column: Annotated[
        str, typer.Option(help="With --ray: the column of IN to translate.", rich_help_panel=_BULK)
    ] = "text",
    block_rows: Annotated[
        int, typer.Option(min=1, help="With --ray: rows of a block, a file of OUT.", rich_help_panel=_BULK)
    ] = 10_000,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="With --ray: processes; as many as fit if not given.", rich_help_panel=_BULK),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="With --ray: CPUs of each worker.", rich_help_panel=_BULK)
    ] = None,
    as_json: Json = False,
) -> None:
    """Translate: a line in, a line out.

    Example: echo "어제 카페에 갔어요." | jumok translate runs/demo
    """
    from jumok.decoding.sampling import Sampling
    from jumok.errors import UsageError

    is_drawn = sample or bayes_risk > 0
    if not is_drawn and (temperature, top_k, top_p, seed) != (1.0, 0, 1.0, None):
        raise UsageError("--temperature, --top-k, --top-p and --seed go with --sample or --mbr")
    if is_drawn and beam is not None:
        raise UsageError("--beam searches, --sample and --mbr draw: give one of them")
    if token_scores and not as_json:
        raise UsageError("--token-scores goes with --json")
    if not ray and (address, column, block_rows, workers, threads) != (None, "text", 10_000, None, None):
        raise UsageError("--address, --column, --block-rows, --workers and --threads go with --ray")
    if ray and (output is not None or text is not None or scores or as_json):
        raise UsageError("--output, --text, --scores and --json do not go with --ray, which writes Parquet into OUT")
    options: dict[str, Any] = {
        "beam": beam,
        "n_best": n_best,
        "patience": patience,
        "length_penalty": length_penalty,
        "coverage_penalty": coverage_penalty,
        "no_repeat_ngram": no_repeat_ngram,
        "min_length": min_length,
        "sampling": Sampling(temperature, top_k, top_p, seed) if is_drawn else None,
        "prefix": prefix,
        "with_alignment": alignment,
        "with_token_scores": token_scores,
        "bayes_risk": bayes_risk,
    }
    if ray:
        options |= {"engine": engine, "compute": compute, "glossary": glossary, "address": address, "column": column}
        _translate_with_ray(paths, **options, block_rows=block_rows, workers=workers, threads=threads)
        return

    runs, file = _runs_and_file([Path(path) for path in paths])
    lines = _lines(text, file)
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise UsageError(f"{output}: {'is a directory' if output.is_dir() else 'its directory does not exist'}")
    from jumok.text.glossary import Glossary
    from jumok.translator import Translator

    translator = Translator.load(*runs, engine=engine, compute=compute)
    if glossary is not None:
        options["glossary"] = Glossary.read(glossary, translator.config.data.source)

    num_cut_off = 0

    def render(translation: Translation) -> str:
        nonlocal num_cut_off
        num_cut_off += not translation.hypotheses[0].is_complete
        return _as_json(translation) if as_json else _as_text(translation, scores)

    is_dialogue = text is None and file is None and sys.stdin.isatty()
    if is_dialogue:  # answer at once, not when a batch is full
        print("Type a sentence and Enter; Ctrl-D ends.", file=sys.stderr)
        for line in lines:
            print(render(translator.translate_scored([line], **options)[0]), flush=True)
        return
    translations = translator.translate_stream(lines, **options)
    _write((render(translation) + "\n" for translation in translations), output)
    if num_cut_off:
        print(_cut_off(num_cut_off, runs[0]), file=sys.stderr)


def _translate_with_ray(paths: list[str], **options: Any) -> None:
    from jumok.bulk import translate_parquet
    from jumok.cli.progress import say
    from jumok.errors import UsageError

    if len(paths) != 3:
        raise UsageError("--ray takes a run, a Parquet file and a folder: jumok translate RUN IN.parquet OUT/ --ray")
    run, source, folder = paths
    result = translate_parquet(run, source, folder, say=say, **options)
    say(f"{folder}: {result.num_rows:,} rows in {result.num_blocks:,} files")
    if result.num_cut_off:
        say(_cut_off(result.num_cut_off, run))


def _cut_off(count: int, run: object) -> str:
    return (
        f"jumok: {count:,} of the translations reached the length limit and were cut off; raise "
        f"decoding.max_extra_length in {run}/config.toml"
    )


# --- what comes in ----------------------------------------------------------------------------------------------


def _runs_and_file(paths: list[Path]) -> tuple[list[Path], Path | None]:
    """Directories are runs; what follows them is the file to translate."""
    from jumok.errors import UsageError

    *others, last = paths
    file = last if others and not last.is_dir() else None
    if file is not None and not file.exists():
        raise UsageError(f'{file}: no such run or file; to translate words, use --text "{file}"')
    return (others if file is not None else paths), file


def _lines(text: str | None, file: Path | None) -> Iterator[str]:
    from jumok.data.readers import read_lines
    from jumok.errors import UsageError

    if text is not None and file is not None:
        raise UsageError("give either --text or FILE, not both")
    if text is not None and any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("--text: not UTF-8; is the terminal set to another encoding?")
    if text is not None:
        return iter(text.split("\n"))
    return read_lines(file) if file is not None else _standard_input()


def _standard_input() -> Iterator[str]:
    from jumok.data.readers import decode_line

    for number, line in enumerate(sys.stdin.buffer, start=1):
        yield decode_line(line, "standard input", number)


# --- what goes out ----------------------------------------------------------------------------------------------


def _as_text(translation: Translation, with_scores: bool) -> str:
    from jumok.decoding.alignment import pharaoh

    rows = []
    for hypothesis in translation.hypotheses:
        row = f"{hypothesis.score:.4f}\t{hypothesis.text}" if with_scores else hypothesis.text
        if hypothesis.alignment is not None:
            row += "\t" + pharaoh(hypothesis.alignment)
        rows.append(row)
    return "\n".join(rows)


def _as_json(translation: Translation) -> str:
    from jumok.decoding.alignment import pharaoh

    hypotheses = []
    for hypothesis in translation.hypotheses:
        row: dict[str, Any] = {
            "text": hypothesis.text,
            "score": round(hypothesis.score, 4),
            "is_complete": hypothesis.is_complete,
        }
        if hypothesis.alignment is not None:
            row["alignment"] = pharaoh(hypothesis.alignment)
        if hypothesis.token_scores is not None:
            row["pieces"] = list(hypothesis.pieces or ())
            row["token_scores"] = [round(score, 4) for score in hypothesis.token_scores]
        hypotheses.append(row)
    return json.dumps({"source": translation.source, "hypotheses": hypotheses}, ensure_ascii=False)


def _write(lines: Iterator[str], output: Path | None) -> None:
    """To standard output, to a device or a pipe, or to a file that is whole or not there."""
    from jumok.errors import ResourceError

    if output is None:
        for line in lines:
            sys.stdout.write(line)
            sys.stdout.flush()  # whoever reads along sees it at once
        return
    is_device = output.exists() and not output.is_file()
    target = output if is_device else output.with_name(f".{output.name}.new")
    try:
        with target.open("w", encoding="utf-8") as out:
            out.writelines(lines)
        if not is_device:
            target.replace(output)
    except OSError as error:
        raise ResourceError(f"{output}: cannot be written: {error.strerror}") from None
    finally:
        if not is_device:
            target.unlink(missing_ok=True)
