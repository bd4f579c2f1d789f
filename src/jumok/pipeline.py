"""The whole job as functions: prepare, train, evaluate. The command line is a thin layer over these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jumok.config import Config, load_config
from jumok.data.prepared import PreparedCorpus
from jumok.data.prepared import prepare as prepare_corpus
from jumok.data.readers import read_lines, read_pairs
from jumok.errors import DataError, RunError, UsageError
from jumok.evaluation.scores import Comparison, Score, bleu_tokenizer, compare, score
from jumok.inspection.report import Sample, write_report
from jumok.storage.files import replace_durably
from jumok.storage.run_directory import RunDirectory
from jumok.text.normalization import normalize
from jumok.training.events import Listener, MetricsFile, TensorBoard
from jumok.training.trainer import Trainer
from jumok.translator import Translator

Say = Callable[[str], None]
_NUM_SAMPLES = 12  # sample translations in the report

# What cannot change while a run goes on: the weights would not fit, or the order of the data would be another.
_FIXED_SECTIONS = ("data", "tokenizer", "model")
_FREE_DATA_KEYS = ("folder", "test", "composition")
_FIXED_TRAINING_KEYS = ("batch_tokens", "accumulate", "seed", "optimizer")


def prepare(config: Config | str | Path, say: Say = print) -> PreparedCorpus:
    """Clean, learn the subwords, write the prepared corpus under `prepared/NAME`."""
    config = _as_config(config)
    return prepare_corpus(config, Path("prepared") / config.name, say)


def train(
    config: Config | str | Path,
    run: str | Path | None = None,
    listeners: Sequence[Listener] = (),
    say: Say = print,
) -> dict[str, Any]:
    """Train, or go on where the run stopped; then score the test sets and write the report. Returns the result."""
    config = _as_config(config)
    directory = RunDirectory(run or Path("runs") / config.name)
    corpus = prepare(config, say)
    with directory.lock():
        _refuse_changes(config, directory)
        directory.refuse_other_data(corpus)
        done = directory.result()
        if done is not None and directory.report_file.exists() and directory.config() == config:
            say(f"{directory.path}: is trained already; to go on, raise what ended it (training.max_steps, say)")
            return done
        directory.result_file.unlink(missing_ok=True)
        directory.create(config, corpus.folder)
        settings = config.training
        files: list[Listener] = [
            MetricsFile(directory.metrics_file, settings.log_every),
            TensorBoard(directory.path / "tensorboard", settings.log_every),
        ]
        trainer = Trainer(config, corpus, directory, [*files, *listeners])
        progress = trainer.train()
        result: dict[str, Any] = {
            "name": config.name,
            "params": trainer.model.num_parameters(),
            "steps": progress.step,
            "epochs": progress.epoch,
            "train_seconds": round(progress.seconds, 1),
            "train_tokens": progress.tgt_tokens,
            "train_flops": progress.flops,
        }
        say("scoring and writing the report")
        _score_and_report(directory, result, say)
    return result


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
    entry: str | list[str] | None = (files if len(files) > 1 else files[0]) if files else getattr(data, split)
    if entry is None:
        raise DataError(f"the run's configuration names no data.{split}; give files to evaluate on")
    folder = "." if files else data.folder
    pairs = [(normalize(s), normalize(t)) for s, t in read_pairs(entry, data.source, data.target, folder)]
    sources, references = [s for s, _ in pairs], [t for _, t in pairs]
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
    translator = Translator.load(directory.path, directory.config().training.device)
    data = translator.config.data
    split = "test" if data.test is not None else "valid"
    main = evaluate(translator, split, use_bootstrap=False)
    if main.remark:
        say(main.remark)
    result |= {
        "scored_on": split,
        "bleu": round(main.bleu.value, 2),
        "chrf": round(main.chrf.value, 2),
        "signature": main.bleu.signature,
        "bleu_lowercase": round(score(main.translations, main.references, data.target, lowercase=True)[0].value, 2),
        "beam": translator.config.decoding.beam,
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
    write_report(directory, translator.engine.model, translator.src_tokenizer, translator.tgt_tokenizer, samples)


def _refuse_changes(config: Config, directory: RunDirectory) -> None:
    """A run goes on only with the data and the model it began with."""
    if not directory.checkpoints.steps():
        return
    before = directory.config()
    for section in (*_FIXED_SECTIONS, "training"):
        old, new = getattr(before, section).model_dump(), getattr(config, section).model_dump()
        for key, value in new.items():
            is_fixed = section != "training" or key in _FIXED_TRAINING_KEYS
            if is_fixed and key not in _FREE_DATA_KEYS and old[key] != value:
                raise RunError(
                    f"{directory.path}: was begun with {section}.{key} = {old[key]}, the configuration says {value}; "
                    f"put it back, choose another --run, or remove {directory.path} to start anew"
                )


def _as_config(config: Config | str | Path) -> Config:
    return config if isinstance(config, Config) else load_config(config)
