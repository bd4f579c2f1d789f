"""Trains what a comparison names, one system after the other, each as an ordinary run, and measures them.

runs/NAME/SYSTEM     a run like any other: `jumok translate` and `jumok evaluate` take it
prepared/NAME        the corpus, shared by the systems that have the same pieces

A system that fails does not take the others with it. What is finished is not trained again, what is not goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from jumok import pipeline
from jumok.comparison import measures
from jumok.comparison.config import Budget, ComparisonConfig, System, in_order_of_need
from jumok.comparison.results import Comparison, SystemResult
from jumok.comparison.trained_runs import TrainedRuns, is_newer
from jumok.config import Config
from jumok.data.batching import collate, plan_pool
from jumok.data.prepared import PreparedCorpus
from jumok.data.test_set import read_test_set, scored_split
from jumok.errors import JumokError, RunError, UsageError, nearest
from jumok.evaluation.cost import training_flops
from jumok.evaluation.scores import bleu_tokenizer, score
from jumok.models import build_model
from jumok.storage.files import replace_durably
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID
from jumok.training.events import Listener
from jumok.training.interruption import Interrupted
from jumok.translator import Translator

Say = Callable[[str], None]
Watch = Callable[[System], AbstractContextManager[Listener | None]]
OnFailure = Callable[[System, Exception], None]
_COSTS = ("train_flops", "train_seconds", "train_tokens", "steps")


class Runner:
    """One comparison on its way."""

    def __init__(
        self,
        config: ComparisonConfig,
        only: Sequence[str] = (),
        say: Say = print,
        watch: Watch = lambda system: nullcontext(),
        on_failure: OnFailure = lambda system, error: None,
    ) -> None:
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise UsageError("jumok compare runs in one process; with torchrun, train the systems one by one")
        names = [system.name for system in config.systems]
        for name in only:
            if name not in names:
                raise UsageError(f"system {name} is not part of {config.name}; {nearest(name, names)}")
        self.config = config
        self.chosen = set(only or names)
        self.say, self.watch, self.on_failure = say, watch, on_failure
        self.test_set = read_test_set(config.data, scored_split(config.data))
        self._runs = TrainedRuns(config)
        self._prepared = _shared_folders(config)
        self._num_threads = torch.get_num_threads()
        self._translations: dict[str, list[str]] = {}

    def run(self) -> Comparison:
        """Train what is not finished, measure all; systems that were not chosen are shown where they are finished."""
        systems = tuple(one for one in self.config.systems if one.name in self.chosen or self._runs.is_finished(one))
        results = self._out_of_reach(systems)
        ordered = in_order_of_need(systems)
        for number, system in enumerate(ordered, start=1):
            if system.name in results:
                continue
            self.say(f"system {number} of {len(ordered)}: {system.name} ({system.title})")
            results[system.name] = self._guarded(system, results)
        torch.set_num_threads(self._num_threads)
        found = self._with_differences([results[system.name] for system in systems])
        _, remark = bleu_tokenizer(self.config.data.target)
        baseline = self.config.system(self.config.baseline).config or _first_config(self.config.systems)
        return Comparison(
            name=self.config.name,
            source=self.config.data.source,
            target=self.config.data.target,
            test_set=str(self.test_set),
            budget=str(self.config.budget),
            baseline=self.config.baseline,
            machine=measures.measure_machine(baseline.training, baseline.model.d_model),
            signature=self._signature(),
            systems=tuple(found),
            with_paper=self.config.with_paper,
            remark=remark or "",
        )

    # --- one system ----------------------------------------------------------------------------------------------

    def _guarded(self, system: System, results: dict[str, SystemResult]) -> SystemResult:
        """A system's figures; where something goes wrong, that it failed and why."""
        torch.set_num_threads(self._num_threads)  # what one system sets is not for the next
        try:
            self._require_needs(system, results)
            result = self._ensemble(system, results) if system.members else self._trained(system, results)
        except Interrupted:
            raise
        except Exception as error:
            self.on_failure(system, error)
            return _failed(system, error)
        self.say(f"{system.name}: BLEU {result.bleu:.1f} ± {result.bleu_interval:.1f}")
        return result

    def _require_needs(self, system: System, results: dict[str, SystemResult]) -> None:
        for name in system.needs:
            if name not in results:
                raise RunError(f"needs {name}, which is not trained yet; leave --only out, or add {name} to it")
            if not results[name].is_done:
                raise RunError(f"needs {name}, which failed")

    def _trained(self, system: System, results: dict[str, SystemResult]) -> SystemResult:
        directory, config = self._runs.directory(system), system.config
        assert config is not None
        self._runs.begin(system)
        if self._runs.is_finished(system):
            config = directory.config()  # with its own device and threads: nothing has to be done again
        with self.watch(system) as listener:
            result = pipeline.train(
                config,
                directory.path,
                [] if listener is None else [listener],
                self.say,
                prepared=self._prepared[system.name],
            )
        assert result is not None
        events = directory.metrics()
        has_shared_pieces = _vocabulary_of(config.tokenizer) == _vocabulary_of(self.config.tokenizer)
        spent = _spent(results[system.start_from] if system.start_from else None)
        own = SystemResult(
            name=system.name,
            title=system.title,
            paper=system.paper,
            note=system.note,
            architecture=config.model.architecture,
            perplexity=measures.perplexity(events) if has_shared_pieces else None,
            params=result["params"],
            train_flops=spent["train_flops"] + result["train_flops"],
            train_seconds=spent["train_seconds"] + result["train_seconds"],
            train_tokens=int(spent["train_tokens"]) + result["train_tokens"],
            steps=int(spent["steps"]) + result["steps"],
            tokens_per_second=measures.training_speed(events),
            curve=measures.curve(events, spent["train_flops"], spent["train_seconds"]),
            layers=measures.last_event(events, "layers"),
        )
        return self._scored(system, own, [directory])

    def _ensemble(self, system: System, results: dict[str, SystemResult]) -> SystemResult:
        """The members' probabilities averaged; it costs what they cost together."""
        directory = self._runs.directory(system)
        runs = [self._runs.directory(self.config.system(name)) for name in system.members]
        if not self._runs.is_finished(system):
            self.say(f"{system.name}: translating with {' + '.join(system.members)}")
            translator = Translator.load(*(run.path for run in runs), device=self._device(runs))
            lines = "".join(line + "\n" for line in translator.translate(self.test_set.sources))
            directory.path.mkdir(parents=True, exist_ok=True)
            replace_durably(directory.path / f"{self.test_set.split}.translations.txt", lines.encode())
            directory.write_result({"members": list(system.members)})
        spent = self._spent_together(system.members, results)
        own = SystemResult(
            name=system.name,
            title=system.title,
            paper=system.paper,
            note=system.note,
            members=system.members,
            params=sum(results[name].params or 0 for name in system.members),
            train_flops=spent["train_flops"],
            train_seconds=spent["train_seconds"],
            train_tokens=int(spent["train_tokens"]),
            steps=int(spent["steps"]),
        )
        return self._scored(system, own, runs)

    def _spent_together(self, members: Sequence[str], results: dict[str, SystemResult]) -> dict[str, float]:
        """Of every training once: two members may have begun with the same weights."""
        start_of = {system.name: system.start_from for system in self.config.systems}
        trained = set(members)
        while starts := {start for name in trained if (start := start_of[name])} - trained:
            trained |= starts
        total = dict.fromkeys(_COSTS, 0.0)
        for name in trained:
            own, before = _spent(results[name]), _spent(results.get(start_of[name] or ""))
            total = {figure: total[figure] + own[figure] - before[figure] for figure in _COSTS}
        return total

    def _scored(self, system: System, result: SystemResult, runs: list[RunDirectory]) -> SystemResult:
        """The figures of a translated test set, and how fast it was."""
        directory, test_set = self._runs.directory(system), self.test_set
        translations = read_translations(directory.path / f"{test_set.split}.translations.txt")
        self._translations[system.name] = translations
        languages = self.config.data.source, self.config.data.target
        bleu, chrf = score(translations, test_set.references, languages[1], use_bootstrap=True)
        by_length = measures.bleu_by_length(test_set.sources, translations, test_set.references, languages)
        return replace(
            result,
            bleu=round(bleu.value, 2),
            bleu_interval=round(bleu.interval or 0.0, 2),
            chrf=round(chrf.value, 2),
            bleu_by_length=by_length,
            sentences_per_second=self._speed(directory, runs),
        )

    def _speed(self, directory: RunDirectory, runs: list[RunDirectory]) -> float:
        """Sentences a second, measured once for each trained model."""
        file = directory.path / "speed.json"
        if not is_newer(file, [directory.result_file]):
            torch.set_num_threads(runs[0].config().training.threads or self._num_threads)
            speed = measures.translation_speed([run.path for run in runs], self.test_set.sources, self._device(runs))
            replace_durably(file, json.dumps({"sentences_per_second": round(speed, 2)}).encode())
        return float(json.loads(file.read_text(encoding="utf-8"))["sentences_per_second"])

    def _device(self, runs: list[RunDirectory]) -> str:
        return runs[0].config().training.device

    # --- before and after ----------------------------------------------------------------------------------------

    def _out_of_reach(self, systems: Sequence[System]) -> dict[str, SystemResult]:
        """The systems of which not even one update fits the budget, as failed; it is an error where these are all."""
        budget = self.config.budget
        to_train = [one for one in systems if one.config is not None and not self._runs.is_finished(one)]
        if budget.kind not in ("tokens", "flops") or not to_train:
            return {}
        costs: dict[str, float] = {}
        failures: dict[str, SystemResult] = {}
        for system in to_train:
            try:
                costs[system.name] = self._cost_of_an_update(system)
            except Exception as error:
                self.on_failure(system, error)
                failures[system.name] = _failed(system, error)
        too_dear = {name: cost for name, cost in costs.items() if cost > budget.amount}
        if too_dear and len(too_dear) == len(costs):
            name = min(too_dear, key=lambda each: too_dear[each])
            raise UsageError(
                f"a budget of {budget} is not enough for one update of any system ({name} takes "
                f"{Budget(budget.kind, too_dear[name])}); raise compare.amount, or lower training.batch_tokens"
            )
        for system in to_train:
            if system.name in too_dear:
                cost = Budget(budget.kind, too_dear[system.name])
                reason = UsageError(f"one update takes {cost}, more than the budget of {budget}")
                self.on_failure(system, reason)
                failures[system.name] = _failed(system, reason)
        return failures

    def _cost_of_an_update(self, system: System) -> float:
        """Of the first one, in the measure of the budget."""
        config = system.config
        while system.start_from:  # its own corpus comes later, and has the same pieces
            system = self.config.system(system.start_from)
        assert config is not None and system.config is not None
        corpus = pipeline.prepare(system.config, _say_nothing, prepared=self._prepared[system.name])
        return update_cost(config, corpus, self.config.budget)

    def _with_differences(self, results: list[SystemResult]) -> list[SystemResult]:
        baseline = self._translations.get(self.config.baseline)
        if baseline is None:
            return results
        return [
            replace(
                result,
                difference=measures.difference(
                    self._translations[result.name], baseline, self.test_set.references, self.config.data.target
                ),
            )
            if result.is_done and result.name != self.config.baseline
            else result
            for result in results
        ]

    def _signature(self) -> str:
        bleu, _ = score(["a"], ["a"], self.config.data.target)
        return bleu.signature


def _spent(result: SystemResult | None) -> dict[str, float]:
    """What a system has cost, that of what it started from included; nothing, where there is none."""
    return {figure: getattr(result, figure, None) or 0 for figure in _COSTS}


def update_cost(config: Config, corpus: PreparedCorpus, budget: Budget) -> float:
    """What the first update takes of a budget of tokens or FLOPs."""
    split, training = corpus.split("train"), config.training
    plan = plan_pool(split, training.batch_tokens, training.seed, epoch=0, pool=0)[: training.accumulate]
    batches = [collate(*split.ids(rows)) for rows in plan]
    if budget.kind == "tokens":
        return sum(batch.num_tgt_tokens for batch in batches)
    model = build_model(config.model, corpus.src_tokenizer.vocab_size, corpus.tgt_tokenizer.vocab_size, PAD_ID)
    # Reinforced: each sample is drawn (a pass forward), then learned from (two forward, one back): 5 thirds of a step.
    factor = 1 + 5 * training.num_samples / 3 if training.objective == "reinforced" else 1
    return factor * sum(training_flops(model, batch) for batch in batches)


def read_translations(path: Path) -> list[str]:
    """A translation a line, whatever it is: a model that has learned little may even write NUL bytes."""
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def _failed(system: System, error: Exception) -> SystemResult:
    text = next(iter(str(error).splitlines()), "") or "no reason given"
    if not isinstance(error, JumokError):
        text = f"{type(error).__name__}: {text}"
    architecture = system.config.model.architecture if system.config else ""
    return SystemResult(
        system.name, system.title, system.paper, "failed", text, system.note, architecture, system.members
    )


def _shared_folders(config: ComparisonConfig) -> dict[str, Path]:
    """The prepared corpus of each system: one for all that have the same pieces."""
    folders: dict[tuple[Any, ...], Path] = {(None, *_vocabulary_of(config.tokenizer)): Path("prepared") / config.name}
    folder_of = {}
    for system in config.systems:
        if system.config is not None:
            key = (system.start_from, *_vocabulary_of(system.config.tokenizer))
            folder_of[system.name] = folders.setdefault(key, Path("prepared") / f"{config.name}.{system.name}")
    return folder_of


def _vocabulary_of(tokenizer: Any) -> tuple[Any, ...]:
    return tuple(tokenizer.model_dump(exclude={"sampling"}).values())


def _first_config(systems: Sequence[System]) -> Config:
    return next(system.config for system in systems if system.config is not None)


def _say_nothing(text: str) -> None:
    """What the training will say again."""
