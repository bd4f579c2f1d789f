"""One system of `translate_speed.py` in a process of its own: opens its model, then translates when told to.

It gets its settings as JSON in the first argument, and a task a line on standard input: `throughput`, all sentences
from file to file, or `latency`, one short sentence after another. It answers each with a line of JSON. Between two
tasks it sleeps, so that the systems can take turns.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUM_TO_WARM_UP = 64
NUM_TO_TUNE = 512


@dataclass(frozen=True)
class Settings:
    """What the benchmark asks of a system."""

    kind: str  # one of SYSTEMS
    run: str  # for its tokenizers and its settings of decoding
    model: str  # what the system opens: the run, or what it was exported to
    compute: str
    threads: int
    beam: int
    sources: str  # a sentence a line
    num_sentences: int  # how many of them a round is
    short_sources: str  # for the latency
    output: str


class Jumok:
    """`jumok translate` from reading lines to writing lines, and `translator.translate(text)`."""

    def __init__(self, settings: Settings) -> None:
        from jumok.translator import Translator

        self.settings = settings
        engine = "torch" if settings.kind == "torch" else "ctranslate2"
        self.translator = Translator.load(
            settings.model, device="cpu", engine=engine, compute=settings.compute, threads=settings.threads
        )
        self.setting = f"{settings.threads} threads" if engine == "torch" else f"{settings.threads} × 1 threads"

    def translate_all(self, num_sentences: int) -> Callable[[], list[str]]:
        from itertools import islice

        from jumok.data.readers import read_lines

        lines = islice(read_lines(Path(self.settings.sources)), num_sentences)
        with Path(self.settings.output).open("w", encoding="utf-8") as file:
            translations = self.translator.translate_stream(lines, beam=self.settings.beam)
            file.writelines(translation.text + "\n" for translation in translations)
        return lambda: read(self.settings.output)

    def one_by_one(self) -> list[Callable[[], Any]]:
        translate, beam = self.translator.translate, self.settings.beam
        return [lambda text=text: translate(text, beam=beam) for text in read(self.settings.short_sources)]


class BareCTranslate2:
    """The library alone, on ready-made pieces, with the threads and the batches that are fastest here."""

    def __init__(self, settings: Settings) -> None:
        from jumok.storage.run_directory import RunDirectory

        self.settings = settings
        run = RunDirectory(settings.run)
        self.decoding = run.config().decoding
        self.src_tokenizer, self.tgt_tokenizer = run.tokenizers()
        self.pieces = self._pieces(settings.sources)
        self.translators: dict[tuple[int, int], Any] = {}
        self.layout, self.batch = self._fastest()
        self.setting = "{} × {} threads, batches of {} {}".format(*self.layout, *self.batch)

    def translate_all(self, num_sentences: int) -> Callable[[], list[str]]:
        found = self._translate(self.pieces[:num_sentences], self.layout, self.batch)
        best = [result.hypotheses[0] for result in found]
        ids = {piece: i for i, piece in enumerate(self.tgt_tokenizer.all_pieces())}
        return lambda: self.tgt_tokenizer.decode([[ids[piece] for piece in pieces] for pieces in best])

    def one_by_one(self) -> list[Callable[[], Any]]:
        layout = (self.settings.threads, 1)  # as Jumok has it
        short = self._pieces(self.settings.short_sources)
        return [lambda pieces=pieces: self._translate([pieces], layout)[0].hypotheses[0] for pieces in short]

    def _pieces(self, path: str) -> list[list[str]]:
        return [self.src_tokenizer.id_to_piece(ids) for ids in self.src_tokenizer.encode(read(path))]

    def _translate(
        self, pieces: list[list[str]], layout: tuple[int, int], batch: tuple[int, str] = (0, "examples")
    ) -> list[Any]:
        import ctranslate2

        if layout not in self.translators:
            self.translators[layout] = ctranslate2.Translator(
                self.settings.model,
                compute_type=self.settings.compute,
                inter_threads=layout[0],
                intra_threads=layout[1],
            )
        mean_length = sum(map(len, pieces)) / len(pieces)
        return self.translators[layout].translate_batch(
            pieces,
            max_batch_size=batch[0],
            batch_type=batch[1],
            beam_size=self.settings.beam,
            length_penalty=self.decoding.length_penalty * mean_length / (mean_length + 5),
        )

    def _fastest(self) -> tuple[tuple[int, int], tuple[int, str]]:
        """Each setting on the same sentences; the whole spread of lengths, as they are not sorted yet."""
        some = self.pieces[:NUM_TO_TUNE]
        batches = [(size, "examples") for size in (16, 32, 64, 128)] + [(size, "tokens") for size in (512, 1024, 2048)]
        seconds = {}
        for layout in {(self.settings.threads, 1), (1, self.settings.threads)}:
            self._translate(some[:NUM_TO_WARM_UP], layout, (32, "examples"))
            for batch in batches:
                started = time.perf_counter()
                self._translate(some, layout, batch)
                seconds[layout, batch] = time.perf_counter() - started
        return min(seconds, key=seconds.__getitem__)


class HuggingFace:
    """`generate` on ready-made ids with its cache, in batches of similar length, as large as Jumok's."""

    def __init__(self, settings: Settings) -> None:
        import torch
        from transformers import AutoModelForSeq2SeqLM

        from jumok.storage.run_directory import RunDirectory

        self.settings = settings
        run = RunDirectory(settings.run)
        self.decoding = run.config().decoding
        src_tokenizer, self.tgt_tokenizer = run.tokenizers()
        self.ids = src_tokenizer.encode(read(settings.sources))
        torch.set_num_threads(settings.threads)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(settings.model).eval()
        self.model.generation_config.max_length = None  # the limit goes by the source, as in Jumok
        self.setting = f"{settings.threads} threads"

    def translate_all(self, num_sentences: int) -> Callable[[], list[str]]:
        found: list[list[int]] = [[] for _ in range(num_sentences)]
        waiting = sorted(range(num_sentences), key=lambda row: -len(self.ids[row]))
        while waiting:
            longest = len(self.ids[waiting[0]])
            num_rows = max(1, self.decoding.batch_tokens // ((longest + 1) * self.settings.beam))
            rows, waiting = waiting[:num_rows], waiting[num_rows:]
            for row, ids in zip(rows, self._generate([self.ids[row] for row in rows]), strict=True):
                found[row] = ids
        return lambda: self.tgt_tokenizer.decode(found)

    def one_by_one(self) -> list[Callable[[], Any]]:
        raise NotImplementedError("only Jumok is compared with the library it uses")

    def _generate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        import torch

        from jumok.data.batching import pad_sources

        src = pad_sources(sources)
        num_pieces = src.size(1) - 1
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=src,
                attention_mask=src.ne(self.model.config.pad_token_id).long(),
                num_beams=self.settings.beam,
                do_sample=False,
                use_cache=True,
                length_penalty=self.decoding.length_penalty * num_pieces / (num_pieces + 5),
                max_new_tokens=num_pieces + self.decoding.max_extra_length,
            )
        return output[:, 1:].tolist()


SYSTEMS = {"jumok": Jumok, "torch": Jumok, "ctranslate2": BareCTranslate2, "huggingface": HuggingFace}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    settings = Settings(**json.loads(sys.argv[1]))
    system = SYSTEMS[settings.kind](settings)
    system.translate_all(NUM_TO_WARM_UP)
    print(json.dumps({"setting": system.setting}), file=answers, flush=True)
    for task in sys.stdin:
        done = throughput(system, settings) if task.strip() == "throughput" else latency(system)
        print(json.dumps(done), file=answers, flush=True)


def throughput(system: Any, settings: Settings) -> dict[str, Any]:
    machine, own, started = machine_seconds(), own_seconds(), time.perf_counter()
    texts_of = system.translate_all(settings.num_sentences)
    seconds = time.perf_counter() - started
    own = own_seconds() - own
    others = machine_seconds() - machine - own
    texts = texts_of()  # not counted: the file is written already, or it is not this system's task
    Path(settings.output).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    taken = max(0.0, others / seconds / (os.cpu_count() or 1))
    figures = {"seconds": round(seconds, 3), "processor_seconds": round(own, 3), "peak_rss_mb": peak_rss_mb()}
    return figures | {"taken_by_others": round(taken, 3)}


def latency(system: Any) -> dict[str, Any]:
    calls = system.one_by_one()
    for call in calls[:10]:
        call()
    seconds = []
    for call in calls:
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return {"latencies": seconds}


def machine_seconds() -> float:
    """Seconds of processor time that the whole machine has spent; 0 elsewhere than on Linux."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split()[1:9]]
    except OSError:
        return 0.0
    _user, _nice, _system, idle, waiting, *_ = fields
    return (sum(fields) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_rss_mb() -> int:
    """Not getrusage's, which starts at what the parent held when it started this process."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def read(path: str) -> list[str]:
    from jumok.data.readers import read_lines

    return list(read_lines(Path(path)))


if __name__ == "__main__":
    main()
