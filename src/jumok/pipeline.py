"""The whole job as functions: prepare, train, evaluate. The command line is a thin layer over these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jumok.config import Config, load_config
from jumok.data.prepared import PreparedCorpus
from jumok.data.prepared import prepare as prepare_corpus
from jumok.data.readers import read_lines
from jumok.data.test_set import TestSet, read_test_set, scored_split
from jumok.errors import DataError, RunError, UsageError
from jumok.evaluation.scores import Comparison, Score, bleu_tokenizer, compare, score
from jumok.inspection.report import Sample, write_report
from jumok.storage.files import replace_durably
from jumok.storage.run_directory import RunDirectory
from jumok.text.normalization import normalize
from jumok.training.distributed import World, join_world
from jumok.training.events import Listener, MetricsFile, TensorBoard
from jumok.training.starting_point import starting_point
from jumok.training.trainer import Trainer
from jumok.translator import Translator

Say = Callable[[str], None]
_NUM_SAMPLES = 12  # sample translations in the report

# What cannot change while a run goes on: the weights would not fit, or the order of the data would be another.
_FIXED_SECTIONS = ("data", "tokenizer", "model")
_FREE_DATA_KEYS = ("folder", "test", "composition")
_FIXED_TRAINING_KEYS = ("batch_tokens", "accumulate", "seed", "optimizer")


def prepare(config: Config | str | Path, say: Say = print, *, prepared: str | Path | None = None) -> PreparedCorpus:
    """Clean, learn the subwords or take those of `training.start_from`, write the corpus under `prepared/NAME`.

    `prepared` is another folder for it.
    """
    config = _as_config(config)
    config, vocabulary = starting_point(config, RunDirectory(Path("runs") / config.name), say)
    return prepare_corpus(config, _prepared_folder(config, prepared), say, vocabulary=vocabulary)


def train(
    config: Config | str | Path,
    run: str | Path | None = None,
    listeners: Sequence[Listener] = (),
    say: Say = print,
    allow_change: bool = False,
    prepared: str | Path | None = None,
) -> dict[str, Any] | None:
    """Train, or go on where the run stopped; then score the test sets and write the report. Returns the result.

    With `training.start_from` it begins with the weights and the vocabulary of that run. `allow_change` goes on
    although data, tokenizer or batching have changed. `prepared` is the folder of the prepared corpus where it is
    not `prepared/NAME`: several runs can share one. Under torchrun every process calls this; one of them writes,
    speaks and returns the result, the others return None.
    """
    config = _as_config(config)
    directory = RunDirectory(run or Path("runs") / config.name)
    world = join_world(config.training.device)
    if not world.is_main:
        listeners, say = (), _say_nothing
    config, vocabulary = starting_point(config, directory, say, allow_change)
    corpus = _prepared_by_main(config, _prepared_folder(config, prepared), vocabulary, world, say)
    with directory.lock() if world.is_main else nullcontext():
        done = _begin(config, directory, corpus, say, allow_change) if world.is_main else None
        if world.total(done is not None)[0]:
            world.leave()
            return done
        if world.is_main:
            listeners = [*_files(directory, config), *listeners]
        trainer = Trainer(config, corpus, directory, listeners, world=world)
        progress = trainer.train()
        world.leave()
        if not world.is_main:
            return None
        result: dict[str, Any] = {
            "name": config.name,
            "params": trainer.model.num_parameters(),
            "steps": progress.step,
            "epochs": progress.epoch,
            "train_seconds": round(progress.seconds, 1),
            "train_tokens": progress.tgt_tokens,
            "train_flops": progress.flops,
            "usual_length": int(np.percentile(trainer.train_split.src_lengths, 99)),
        }
        say("scoring and writing the report")
        _score_and_report(directory, result, say)
    return result


def _prepared_folder(config: Config, given: str | Path | None) -> Path:
    return Path("prepared") / config.name if given is None else Path(given)


def _prepared_by_main(config: Config, folder: Path, vocabulary: Path | None, world: World, say: Say) -> PreparedCorpus:
    """One rank prepares while the others wait, then all open the same."""
    corpus = prepare_corpus(config, folder, say, vocabulary=vocabulary) if world.is_main else None
    world.wait()
    return corpus or PreparedCorpus(folder)


def _begin(
    config: Config, directory: RunDirectory, corpus: PreparedCorpus, say: Say, allow_change: bool
) -> dict[str, Any] | None:
    """Lay the run directory out, or see that it may go on; returns the result where there is nothing left to do."""
    _refuse_changes(config, directory, corpus, allow_change)
    done = directory.result()
    if (
        done is not None
        and directory.report_file.exists()
        and directory.config() == config
        and _is_scored(done, config)
    ):
        say(f"{directory.path}: is trained already; to go on, raise what ended it (training.max_steps, say)")
        return done
    directory.result_file.unlink(missing_ok=True)
    directory.report_file.unlink(missing_ok=True)  # of a shorter training
    directory.create(config, corpus.folder)
    return None


def _is_scored(result: dict[str, Any], config: Config) -> bool:
    """Whether the test set is still the one that the figures belong to; older results do not say which it was."""
    data = config.data
    return result.get("test_set") in (None, read_test_set(data, scored_split(data)).fingerprint)


def _files(directory: RunDirectory, config: Config) -> list[Listener]:
    """Who writes the training down."""
    log_every = config.training.log_every
    return [MetricsFile(directory.metrics_file, log_every), TensorBoard(directory.path / "tensorboard", log_every)]


def _say_nothing(text: str) -> None:
    """What the main rank has said already."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of a run on one test set, and how they were made."""

    split: str
    sources: list[str]
    translations: list[str]
    references: list[str]
    bleu: Score
    chrf: Score
    remark: str | None  # what a reader of the figure has to know
    comparison: list[Comparison]


def evaluate(
    run: str | Path | Translator,
    split: str = "test",
    *,
    files: list[str] | None = None,
    beam: int | None = None,
    lowercase: bool = False,
    against: str | Path | None = None,
    use_bootstrap: bool = True,
) -> Evaluation:
    """Translate a test set and score it.

    `files` replaces the run's own test set; `against` is another run, or a file of translations, to compare with.
    """
    if split not in ("valid", "test", "composition"):
        raise UsageError(f"split {split}: expected valid, test or composition")
    translator = run if isinstance(run, Translator) else Translator.load(run)
    data = translator.config.data
    test_set = read_test_set(data, split, files)
    sources, references = test_set.sources, test_set.references
    translations = translator.translate(sources, beam=beam)
    bleu, chrf = score(translations, references, data.target, lowercase, use_bootstrap)
    comparison: list[Comparison] = []
    if against is not None:
        baseline = _translations_of(Path(against), sources, beam)
        comparison = compare(translations, baseline, references, data.target, lowercase)
    _, remark = bleu_tokenizer(data.target)
    return Evaluation(split, sources, translations, references, bleu, chrf, remark, comparison)


def _translations_of(other: Path, sources: list[str], beam: int | None) -> list[str]:
    if other.is_dir():
        return Translator.load(other).translate(sources, beam=beam)
    if not other.exists():
        raise DataError(f"{other}: no such run directory or file of translations")
    return [normalize(line) for line in read_lines(other)]


def _score_and_report(directory: RunDirectory, result: dict[str, Any], say: Say) -> None:
    """Score every test set that the run has, keep the translations, write result.json and report.html."""
    translator = Translator.load(directory.path, device=directory.config().training.device)
    translator.usual_length = result["usual_length"]  # as it will be read from the result that is written now
    data = translator.config.data
    split = scored_split(data)
    main = evaluate(translator, split, use_bootstrap=False)
    if main.remark:
        say(main.remark)
    result |= {
        "scored_on": split,
        "test_set": TestSet(split, main.sources, main.references).fingerprint,
        "bleu": round(main.bleu.value, 2),
        "chrf": round(main.chrf.value, 2),
        "signature": main.bleu.signature,
        "bleu_lowercase": round(score(main.translations, main.references, data.target, lowercase=True)[0].value, 2),
        "beam": translator.config.decoding.beam,
        "patience": translator.config.decoding.patience,
        "length_penalty": translator.config.decoding.length_penalty,
    }
    evaluations = [main]
    if data.composition is not None:
        composition = evaluate(translator, "composition", use_bootstrap=False)
        result["bleu_composition"] = round(composition.bleu.value, 2)
        evaluations.append(composition)
    for evaluation in evaluations:
        text = "".join(line + "\n" for line in evaluation.translations)
        replace_durably(directory.path / f"{evaluation.split}.translations.txt", text.encode())
    directory.write_result(result)
    triples = zip(main.sources, main.translations, main.references, strict=True)
    samples = [Sample(*triple) for triple, _ in zip(triples, range(_NUM_SAMPLES), strict=False)]
    write_report(directory, translator.model, translator.src_tokenizer, translator.tgt_tokenizer, samples)


def _refuse_changes(config: Config, directory: RunDirectory, corpus: PreparedCorpus, allow_change: bool) -> None:
    """A run goes on only with the model it began with, and with the same data, unless that is explicitly allowed."""
    if not directory.checkpoints.steps():
        return
    before = directory.config()
    changes = []
    for section in (*_FIXED_SECTIONS, "training"):
        old, new = getattr(before, section).model_dump(), getattr(config, section).model_dump()
        for key, value in new.items():
            is_fixed = section != "training" or key in _FIXED_TRAINING_KEYS
            if is_fixed and key not in _FREE_DATA_KEYS and old.get(key, value) != value:
                changes.append((section, f"{section}.{key} was {old[key]} and is {value} now"))
    changes += [("data", change) for change in directory.changed_data(corpus)]
    for section, change in changes:
        can_be_allowed = section != "model"
        if not (can_be_allowed and allow_change):
            advice = "--allow-change goes on all the same" if can_be_allowed else "the weights would not fit"
            raise RunError(
                f"{directory.path}: {change}; {advice}; else put it back, choose another --run, or remove "
                f"{directory.path} to start anew"
            )


def _as_config(config: Config | str | Path) -> Config:
    return config if isinstance(config, Config) else load_config(config)
