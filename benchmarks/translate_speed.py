"""How fast Jumok translates, beside the bare CTranslate2 library and Hugging Face, with the same trained weights.

    jumok train recipes/multi30k-de-en.toml                       # once; the run is where the weights come from
    python benchmarks/translate_speed.py runs/multi30k-de-en      # three rounds
    python benchmarks/translate_speed.py runs/multi30k-de-en --fast-run runs/multi30k-de-en-fast --json > speed.json
    python benchmarks/translate_speed.py runs/multi30k-de-en --sentences 64 --rounds 1    # whether it works

The run's test set, repeated to `--sentences`, with the same beam on the same two cores. Each system is a process of
its own (`translate_speed_worker.py`) that opens its model, warms up, and sleeps while the others are measured. They
take turns, in every second round in the opposite order, so that a machine that becomes slower or faster is so for all.

Jumok is measured from file to file: reading, cutting into pieces, searching, joining, writing; start-up is left out.
Its peers get more: ready-made pieces, nothing to join or write, and the bare library the threads and batches that were
fastest in a trial beforehand. Hugging Face gets batches by length as large as Jumok's. A target token is a piece of
what came out, or the end of a sentence. Where other programs took a noticeable part of the machine, the row is marked:
such figures are for nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from translate_speed_worker import Settings, read

from jumok.data.readers import read_pairs
from jumok.engines.ctranslate2_engine import converted
from jumok.evaluation.scores import score
from jumok.exchange.ctranslate2 import export_ctranslate2
from jumok.exchange.huggingface_export import export_huggingface
from jumok.storage.run_directory import RunDirectory

WORKER = Path(__file__).resolve().parent / "translate_speed_worker.py"
MAX_DISTURBANCE = 0.1  # of the cores, taken by other programs


@dataclass(frozen=True)
class System:
    """Something to measure, and what is expected of it: so many times as fast as another."""

    title: str
    kind: str
    compute: str = "float32"
    has_map: bool = False
    is_fast_run: bool = False
    is_slow: bool = False
    bars: tuple[tuple[str, float], ...] = ()


SYSTEMS = {
    "huggingface": System("Hugging Face `generate`", "huggingface", is_slow=True),
    "ctranslate2": System("bare CTranslate2", "ctranslate2"),
    "jumok": System("Jumok, float32", "jumok", bars=(("ctranslate2", 0.95), ("huggingface", 3.5))),
    "int8": System("Jumok, int8", "jumok", "int8", bars=(("huggingface", 4.5),)),
    "map": System("Jumok, int8, vocabulary map", "jumok", "int8", has_map=True, bars=(("huggingface", 6.0),)),
    "torch": System("Jumok, torch engine", "torch", is_slow=True, bars=(("huggingface", 2.0),)),
    "fast": System("fast run, float32", "jumok", is_fast_run=True),
    "fast-map": System("fast run, int8, vocabulary map", "jumok", "int8", has_map=True, is_fast_run=True),
}
MAX_BLEU_LOSS = 0.3  # of int8 against float32
MAX_LATENCY_RATIO = 1.3  # of Jumok's p50 to the bare library's


class Worker:
    """A system in a process of its own."""

    def __init__(self, name: str, settings: Settings, scratch: Path) -> None:
        self.name, self.settings = name, settings
        self._log = scratch / f"{name}.stderr"
        threads = {
            "OMP_NUM_THREADS": str(settings.threads)
        }  # MKL_NUM_THREADS would set every CTranslate2 worker on all cores
        quiet = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error"}
        with self._log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(WORKER), json.dumps(asdict(settings))],
                env=os.environ | threads | quiet,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.setting = self._answer()["setting"]

    def ask(self, task: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(task + "\n")
        self._process.stdin.flush()
        return self._answer()

    def stop(self) -> None:
        self._process.communicate()  # the end of its input is the end of its work

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-20:])
            raise SystemExit(f"{SYSTEMS[self.name].title} failed ({self._process.wait()}):\n{tail}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def main() -> None:
    options = parse_arguments()
    if hasattr(os, "sched_setaffinity"):  # every system stays on the same cores, however many it would take by itself
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    with tempfile.TemporaryDirectory(prefix="translate-speed-") as folder:
        scratch = Path(folder)
        references = write_test_set(options, scratch)
        workers: dict[str, Worker] = {}
        try:
            for name in options.systems:
                workers[name] = Worker(name, settings_of(name, options, scratch), scratch)
                say(f"{name} is ready: {workers[name].setting}")
            runs = measure_throughput(workers, options.rounds, references)
            latencies = measure_latency(workers, options.rounds)
        finally:
            for worker in workers.values():
                worker.stop()
    summary = summarize(runs, latencies)
    print(json.dumps(summary, indent=2) if options.json else table(summary))


def parse_arguments() -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    add = parser.add_argument
    add("run", type=Path, metavar="RUN", help="a trained run, for instance of recipes/multi30k-de-en.toml")
    add("--fast-run", type=Path, metavar="RUN", help="a second run of the same languages, measured beside it")
    add("--data", type=Path, help="folder of the run's corpus, where it is no longer where the run says")
    add("--systems", help=f"which, separated by commas; default: {','.join(SYSTEMS)}")
    add("--rounds", type=int, default=3)
    add("--sentences", type=int, default=5000, help="in each round")
    add("--slow-sentences", type=int, help="fewer of them for the systems on torch, to have figures sooner")
    add("--short-sentences", type=int, default=200, help="the shortest ones, one by one, for the latency")
    add("--beam", type=int, default=4)
    add("--threads", type=int, default=2)
    add("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    options.slow_sentences = min(options.slow_sentences or options.sentences, options.sentences)
    options.systems = options.systems.split(",") if options.systems else list(SYSTEMS)
    if unknown := set(options.systems) - set(SYSTEMS):
        parser.error(f"no system is called {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")
    if options.fast_run is None:
        options.systems = [name for name in options.systems if not SYSTEMS[name].is_fast_run]
    return options


# --- what they translate ----------------------------------------------------------------------------------------------


def write_test_set(options: argparse.Namespace, scratch: Path) -> list[str]:
    """Write the sentences, repeated, and the shortest ones; return the translations they are compared with."""
    data = RunDirectory(options.run).config().data
    if data.test is None:
        raise SystemExit(f"{options.run}: has no test set; give a run of a recipe with data.test")
    pairs = list(read_pairs(data.test, data.source, data.target, options.data or data.folder))
    sources = [src for src, _ in pairs]
    num_copies = -(-options.sentences // len(sources))
    write(scratch / "sources.txt", (sources * num_copies)[: options.sentences])
    write(scratch / "short.txt", sorted(sources, key=len)[: options.short_sentences])
    return [tgt for _, tgt in pairs]


def settings_of(name: str, options: argparse.Namespace, scratch: Path) -> Settings:
    """What a worker is told; a model in another form than the run's is made here."""
    system = SYSTEMS[name]
    run = RunDirectory(options.fast_run if system.is_fast_run else options.run)
    model = run.path
    if system.kind == "huggingface":
        model = scratch / name
        export_huggingface(run, model)
    elif system.has_map:
        model = scratch / name
        export_ctranslate2(run, model, system.compute, use_vocabulary_map=True)
    elif system.kind == "ctranslate2":
        model = converted(run)  # the same file that Jumok's engine opens
    return Settings(
        kind=system.kind,
        run=str(run.path.resolve()),
        model=str(model.resolve()),
        compute=system.compute,
        threads=options.threads,
        beam=options.beam,
        sources=str(scratch / "sources.txt"),
        num_sentences=options.slow_sentences if system.is_slow else options.sentences,
        short_sources=str(scratch / "short.txt"),
        output=str(scratch / f"{name}.txt"),
    )


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


# --- measuring --------------------------------------------------------------------------------------------------------


def in_turns(names: list[str], num_rounds: int) -> Iterator[tuple[int, str]]:
    """Who is measured when: each once in a round, in every second round in the opposite order."""
    for number in range(num_rounds):
        for name in names[:: 1 if number % 2 == 0 else -1]:
            yield number + 1, name


def measure_throughput(workers: dict[str, Worker], num_rounds: int, references: list[str]) -> list[dict[str, Any]]:
    runs = []
    for number, name in in_turns(list(workers), num_rounds):
        result = {"system": name, "round": number} | workers[name].ask("throughput")
        result |= about_output(workers[name].settings, result["seconds"], references)
        say(f"round {number}: {name} {result['sentences_per_second']} sentences/s{remark(result)}")
        runs.append(result | {"setting": workers[name].setting})
    return runs


def about_output(settings: Settings, seconds: float, references: list[str]) -> dict[str, float]:
    """Speed by what came out, and BLEU over the test set once."""
    run = RunDirectory(settings.run)
    texts = read(settings.output)
    assert len(texts) == settings.num_sentences
    num_tokens = sum(len(ids) + 1 for ids in run.tokenizers()[1].encode(texts))
    num_scored = min(len(texts), len(references))
    bleu = score(texts[:num_scored], references[:num_scored], run.config().data.target)[0]
    return {
        "sentences_per_second": round(len(texts) / seconds, 1),
        "target_tokens_per_second": round(num_tokens / seconds),
        "bleu": round(bleu.value, 2),
    }


def measure_latency(workers: dict[str, Worker], num_rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds for a short sentence, of Jumok and of the library that it uses, over all rounds."""
    milliseconds: dict[str, list[float]] = {name: [] for name in ("ctranslate2", "jumok") if name in workers}
    for _, name in in_turns(list(milliseconds), num_rounds):
        milliseconds[name] += [1000 * seconds for seconds in workers[name].ask("latency")["latencies"]]
    return {
        name: {"p50": round(percentile(values, 0.5), 2), "p99": round(percentile(values, 0.99), 2)}
        for name, values in milliseconds.items()
    }


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


# --- telling ----------------------------------------------------------------------------------------------------------


def summarize(runs: list[dict[str, Any]], latencies: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The medians, their ratios, and every single run."""
    names = list(dict.fromkeys(run["system"] for run in runs))
    figures = ("sentences_per_second", "target_tokens_per_second", "bleu", "peak_rss_mb", "taken_by_others")
    summary: dict[str, Any] = {figure: {name: median(runs, name, figure) for name in names} for figure in figures}
    speeds, bleu = summary["sentences_per_second"], summary["bleu"]
    for name in names:
        for peer in ("huggingface", "ctranslate2"):
            if peer in names and name != peer:
                summary[f"ratio_{name}_to_{peer}"] = round(speeds[name] / speeds[peer], 3)
        if name in ("int8", "map") and "jumok" in names:
            summary[f"bleu_lost_by_{name}"] = round(bleu["jumok"] - bleu[name], 2)
    summary["latency_ms"] = latencies
    if len(latencies) == 2:
        summary["ratio_latency_p50"] = round(latencies["jumok"]["p50"] / latencies["ctranslate2"]["p50"], 3)
    summary["missed"] = missed(summary, names)
    summary["disturbed_runs"] = sum(bool(remark(run)) for run in runs)
    return summary | {"runs": runs}


def median(runs: list[dict[str, Any]], name: str, figure: str) -> float:
    return statistics.median(run[figure] for run in runs if run["system"] == name)


def missed(summary: dict[str, Any], names: list[str]) -> list[str]:
    """The expectations that were not met, of those that were measured."""
    wanted = [(f"ratio_{name}_to_{peer}", bar) for name in names for peer, bar in SYSTEMS[name].bars]
    below = [f"{key} = {summary[key]}, at least {bar}" for key, bar in wanted if summary.get(key, bar) < bar]
    limits = {"bleu_lost_by_int8": MAX_BLEU_LOSS, "bleu_lost_by_map": MAX_BLEU_LOSS}
    limits |= {"ratio_latency_p50": MAX_LATENCY_RATIO}
    return below + [
        f"{key} = {summary[key]}, at most {bar}" for key, bar in limits.items() if summary.get(key, 0) > bar
    ]


def remark(run: dict[str, Any]) -> str:
    """What a reader of this figure has to know."""
    others = run["taken_by_others"]
    return f" (other programs took {others:.0%} of the machine)" if others > MAX_DISTURBANCE else ""


def table(summary: dict[str, Any]) -> str:
    """The summary for a person, in Markdown: a row a system, then the latency and what was missed."""
    lines = [
        "| system | sentences/s | target tokens/s | × Hugging Face | × bare CTranslate2 | BLEU | peak MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, speed in summary["sentences_per_second"].items():
        ratios = [ratio_cell(summary, name, peer) for peer in ("huggingface", "ctranslate2")]
        tokens, bleu = summary["target_tokens_per_second"][name], summary["bleu"][name]
        cells = [SYSTEMS[name].title, f"{speed:.1f}", f"{tokens:.0f}", *ratios, f"{bleu:.2f}"]
        lines.append(f"| {' | '.join([*cells, str(round(summary['peak_rss_mb'][name]))])} |")
    if summary["latency_ms"]:
        lines += ["", "| a short sentence | p50 ms | p99 ms |", "| --- | ---: | ---: |"]
        for name, latency in summary["latency_ms"].items():
            lines.append(f"| {SYSTEMS[name].title} | {latency['p50']} | {latency['p99']} |")
    lines += ["", *(f"{run['system']}: {run['setting']}" for run in summary["runs"] if run["round"] == 1)]
    lines += [f"missed: {bar}" for bar in summary["missed"]]
    if summary["disturbed_runs"]:
        lines.append(f"{summary['disturbed_runs']} runs were disturbed by other programs: measure again")
    return "\n".join(lines)


def ratio_cell(summary: dict[str, Any], name: str, peer: str) -> str:
    """The ratio, and in brackets what it has to be."""
    ratio = summary.get(f"ratio_{name}_to_{peer}")
    bar = dict(SYSTEMS[name].bars).get(peer)
    return "" if ratio is None else f"{ratio:.2f}" + ("" if bar is None else f" ({bar})")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
