"""`jumok translate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from jumok.cli.options import Json, RunArgument


def translate(
    run: RunArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A text a line; standard input if not given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write there instead of standard output.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Translate this text.")] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept side by side; 1 is greedy.")] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="Print so many translations of each line.")] = 1,
    scores: Annotated[bool, typer.Option("--scores", help="Print the score before each translation.")] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Draw at random instead of searching.")] = False,
    temperature: Annotated[float, typer.Option(help="With --sample: above 1 is bolder, below 1 safer.")] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", help="With --sample: only the k likeliest pieces; 0: all.")] = 0,
    top_p: Annotated[float, typer.Option("--top-p", help="With --sample: only the likeliest mass p.")] = 1.0,
    seed: Annotated[int | None, typer.Option(help="With --sample: repeat the same draws.")] = None,
    as_json: Json = False,
) -> None:
    """Translate: a line in, a line out.

    Example: echo "어제 카페에 갔어요." | jumok translate runs/demo
    """
    from jumok.data.readers import read_lines
    from jumok.decoding.sampling import Sampling
    from jumok.errors import UsageError
    from jumok.translator import Translation, Translator

    sampling = Sampling(temperature, top_k, top_p, seed) if sample else None
    if not sample and (temperature, top_k, top_p, seed) != (1.0, 0, 1.0, None):
        raise UsageError("--temperature, --top-k, --top-p and --seed go with --sample")
    if sample and beam is not None:
        raise UsageError("--beam searches and --sample draws: give one of them")
    if text is not None and file is not None:
        raise UsageError("give either --text or FILE, not both")
    if text is not None and any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("--text: not UTF-8; is the terminal set to another encoding?")
    if file is not None and not file.is_file():
        advice = "is a directory" if file.is_dir() else f'no such file; to translate words, use --text "{file}"'
        raise UsageError(f"{file}: {advice}")
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise UsageError(f"{output}: {'is a directory' if output.is_dir() else 'its directory does not exist'}")
    translator = Translator.load(run)

    lines: Iterator[str]
    if text is not None:
        lines = iter(text.split("\n"))
    elif file is not None:
        lines = read_lines(file)
    else:
        if sys.stdin.isatty():
            print("Type a sentence and Enter; Ctrl-D ends.", file=sys.stderr)
        lines = _standard_input()

    num_cut_off = 0

    def render(translation: Translation) -> str:
        nonlocal num_cut_off
        num_cut_off += not translation.hypotheses[0].is_complete
        if as_json:
            hypotheses = [
                {"text": h.text, "score": round(h.score, 4), "is_complete": h.is_complete}
                for h in translation.hypotheses
            ]
            return json.dumps({"source": translation.source, "hypotheses": hypotheses}, ensure_ascii=False)
        rows = (f"{h.score:.4f}\t{h.text}" if scores else h.text for h in translation.hypotheses)
        return "\n".join(rows)

    is_dialogue = text is None and file is None and sys.stdin.isatty()
    if is_dialogue:  # answer at once, not when a batch is full
        for line in lines:
            print(render(translator.translate(line, beam=beam, n_best=n_best, sampling=sampling)), flush=True)
        return
    translations = translator.translate_stream(lines, beam=beam, n_best=n_best, sampling=sampling)
    _write((render(translation) + "\n" for translation in translations), output)
    if num_cut_off:
        print(
            f"jumok: {num_cut_off:,} of the translations reached the length limit and were cut off; raise "
            f"decoding.max_extra_length in {run / 'config.toml'}",
            file=sys.stderr,
        )


def _write(lines: Iterator[str], output: Path | None) -> None:
    """To standard output, to a device or a pipe, or to a file that is whole or not there."""
    from jumok.errors import ResourceError

    if output is None:
        sys.stdout.writelines(lines)
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


def _standard_input() -> Iterator[str]:
    from jumok.data.readers import decode_line

    for number, line in enumerate(sys.stdin.buffer, start=1):
        yield decode_line(line, "standard input", number)
