"""The trainer, read top to bottom.

Data order and randomness are functions of (seed, epoch, step): nothing but weights, optimizer and counters has to be
saved for a training to go on exactly where it stopped.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NoReturn

import numpy as np
import torch
from torch import nn

from jumok.config import Config
from jumok.data.batching import Batch, Ids, collate, num_pools, plan_batches, plan_pool
from jumok.data.prepared import PreparedCorpus, Split
from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.errors import DivergenceError, UsageError, explained_memory_errors
from jumok.evaluation.scores import score
from jumok.models import TranslationModel, build_model
from jumok.nn.device import choose_device
from jumok.storage.checkpoints import for_storage, load_tensors, load_weights, model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.storage.sharded import like, whole
from jumok.text.tokenizer import PAD_ID
from jumok.training.distributed import Rows, Share, World, deal, gathered, joining, spread
from jumok.training.events import Event, Listener
from jumok.training.interruption import Interrupted, signals_noted
from jumok.training.layer_record import record_layers
from jumok.training.memory import keep_freed_memory
from jumok.training.objective import Objective, build_objective
from jumok.training.optimizer import build_optimizer
from jumok.training.schedule import learning_rate

_MEMORY_ADVICE = (
    "lower training.batch_tokens (and raise training.accumulate by the same factor to learn the same), or choose a "
    "smaller model.preset"
)


@dataclass
class Progress:
    """How far the training is: all that a checkpoint needs beside weights and optimizer."""

    step: int = 0
    epoch: int = 0
    pool: int = 0  # of this epoch: a large corpus is gone through in several
    batch: int = 0  # the next one of this pool
    tgt_tokens: int = 0
    src_tokens: int = 0
    seconds: float = 0.0
    flops: float = 0.0
    best_step: int = 0
    best_loss: float | None = None
    worse_validations: int = 0
    skipped: int = 0


class Trainer:
    """Trains one model on one prepared corpus into one run directory."""

    def __init__(
        self,
        config: Config,
        corpus: PreparedCorpus,
        run: RunDirectory,
        listeners: Sequence[Listener] = (),
        world: World | None = None,
    ) -> None:
        self.config = config
        self.settings = config.training
        self.corpus = corpus
        self.run = run
        self.listeners = listeners
        self.world = world or World(choose_device(self.settings.device))
        self.device = self.world.device
        if self.settings.record_layers and config.distributed.shard and self.world.size > 1:
            raise UsageError("training.record_layers wants whole layers on each process; set distributed.shard = false")
        self.train_split = corpus.split("train")
        self.valid_split = corpus.split("valid")
        self.progress = Progress()
        self._started = time.perf_counter()  # less the seconds of earlier sittings
        self._received: list[int] = []  # signals
        self._last_batch: Batch | None = None  # whose layers are recorded

        keep_freed_memory()
        if self.settings.threads is not None:
            torch.set_num_threads(self.settings.threads)
        torch.manual_seed(self.settings.seed)
        vocab_sizes = corpus.src_tokenizer.vocab_size, corpus.tgt_tokenizer.vocab_size
        self.model: TranslationModel = build_model(config.model, *vocab_sizes, PAD_ID)
        self.objective = build_objective(self.model, self.settings)
        self.spread_objective = spread(self.objective, self.world, config.distributed.shard)
        self.optimizer = build_optimizer(self.model, self.settings)

    def train(self) -> Progress:
        """Train until the steps, the minutes or the patience are used up, then choose the model to use."""
        self._go_on_from_checkpoint()
        self.objective.train()
        self._started = time.perf_counter() - self.progress.seconds
        with signals_noted() as self._received, explained_memory_errors(_MEMORY_ADVICE):
            for batches in self._updates():
                self._update(batches)
                is_validation = self._is_due(self.settings.validate_every) or self._is_over()
                if is_validation:
                    self._validate()
                is_asked_to_stop = self._is_asked_to_stop()
                if is_validation or self._is_due(self.settings.save_every) or is_asked_to_stop:
                    self._save()
                if is_asked_to_stop:
                    self._stop()
                if self._is_over():
                    break
            self._choose_model()
            if self._received:
                self._stop()
        self.spread_objective = self.objective  # DDP has to go before the group it joins through, or both may hang
        return self.progress

    def _is_asked_to_stop(self) -> bool:
        """Whether a signal has come, to whichever rank: all stop after the same update."""
        return self.world.total(bool(self._received))[0] > 0

    def _stop(self) -> NoReturn:
        raise Interrupted(self._received[0] if self._received else signal.SIGTERM, self.progress.step)

    # --- one update ---------------------------------------------------------------------------------------------

    def _updates(self) -> Iterator[list[Rows]]:
        """The batches of each update, as rows of the corpus, from where the training stands, epoch after epoch."""
        settings, progress = self.settings, self.progress
        if self._is_over():
            return
        while True:
            plan = plan_pool(self.train_split, settings.batch_tokens, settings.seed, progress.epoch, progress.pool)
            while progress.batch < len(plan):
                batches = plan[progress.batch : progress.batch + settings.accumulate]
                progress.batch += len(batches)
                yield batches
            progress.pool, progress.batch = progress.pool + 1, 0
            if progress.pool == num_pools(len(self.train_split)):
                progress.epoch, progress.pool = progress.epoch + 1, 0

    def _make_batch(self, rows: Rows, seeds: Sequence[int]) -> Batch:
        src, tgt = self.train_split.ids(rows)
        sampling = self.config.tokenizer.sampling
        if not sampling:
            return collate(src, tgt)
        src_texts, tgt_texts = self.train_split.texts(rows)
        sampled_src = self.corpus.src_tokenizer.encode_sampled(src_texts, sampling, seeds[0])
        sampled_tgt = self.corpus.tgt_tokenizer.encode_sampled(tgt_texts, sampling, seeds[1])
        return collate(self._unless_too_long(sampled_src, src), self._unless_too_long(sampled_tgt, tgt))

    def _unless_too_long(self, sampled: Sequence[Ids], plain: Sequence[Ids]) -> list[Ids]:
        """Sampling makes more pieces; where it makes too many, the plain ones are taken."""
        limit = self.config.data.max_length
        return [s if len(s) <= limit else p for s, p in zip(sampled, plain, strict=True)]

    def _update(self, batches: list[Rows]) -> None:
        """Sum the losses, count the tokens, scale once: accumulation is exactly one large batch."""
        started = time.perf_counter()
        progress, settings = self.progress, self.settings
        progress.step += 1
        shares = deal(batches, self._count_tokens, self.world)
        own = [self._backward(share, is_last=share is shares[-1]) for share in shares]
        sums = np.sum(own, axis=0)
        total_loss, num_tokens, num_src_tokens, flops = self.world.total(*sums)
        grad_norm = self._scale_gradients(num_tokens)
        rate = learning_rate(settings, self.config.model.d_model, progress.step, self._used())
        is_usable = math.isfinite(total_loss) and math.isfinite(grad_norm)
        if is_usable:
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.step()
            progress.skipped = 0
        self.optimizer.zero_grad(set_to_none=True)

        progress.seconds = self._seconds()
        progress.tgt_tokens += int(num_tokens)
        progress.src_tokens += int(num_src_tokens)
        progress.flops += flops
        if not is_usable:
            self._skip(batches, total_loss, grad_norm)
            return
        self._tell(
            "train",
            epoch=progress.epoch,
            batch=progress.batch,
            loss=total_loss / num_tokens,
            learning_rate=rate,
            grad_norm=grad_norm,
            tgt_tokens=progress.tgt_tokens,
            tokens_per_second=num_tokens / (time.perf_counter() - started),
            seconds=progress.seconds,
            flops=progress.flops,
        )

    def _count_tokens(self, rows: Rows) -> int:
        return int(sum(lengths.sum() for lengths in self.train_split.lengths(rows)))

    def _backward(self, share: Share, is_last: bool) -> tuple[float, float, float, float]:
        """Add a share's gradient; returns its loss, target tokens, source tokens and FLOPs."""
        seeds = _seeds(self.settings.seed, self.progress.step, share.batch, share.piece)
        torch.manual_seed(seeds[0])  # decides the dropout
        batch = self._last_batch = self._make_batch(share.rows, seeds)
        with joining(self.spread_objective, is_last):
            with self._autocast():
                loss, num_tokens = self.spread_objective(batch.to(self.device))
            torch.autograd.backward(loss * 0.0 if share.is_filler else loss)
        if share.is_filler:
            return 0.0, 0.0, 0.0, 0.0
        flops = self.objective.flops(batch)
        return float(loss.detach()), num_tokens, batch.num_src_tokens, flops

    def _scale_gradients(self, num_tokens: float) -> float:
        """Divide by the tokens and shorten to clip_norm, in one pass; returns the norm before it was shortened."""
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        a_token = self.world.size / num_tokens  # joined gradients are means over the ranks
        norm = float(whole(nn.utils.get_total_norm(gradients))) * a_token
        limit = self.settings.clip_norm or math.inf
        torch._foreach_mul_(gradients, min(1.0, limit / (norm + 1e-6)) * a_token)
        return norm

    def _skip(self, batches: list[Rows], loss: float, grad_norm: float) -> None:
        """A loss or gradient that is not a number never reaches the weights; which sentences it was is written down."""
        progress, limit = self.progress, self.settings.max_skipped
        progress.skipped += 1
        rows = [batch.tolist() for batch in batches]
        self._tell("skip", loss=str(loss), grad_norm=str(grad_norm), rows=rows)
        if progress.skipped >= limit:
            raise DivergenceError(
                f"{limit} updates in a row had no finite gradient (last at step {progress.step}, its sentences are in "
                f"{self.run.metrics_file}); lower training.learning_rate or raise training.warmup_steps; the same "
                "command goes on from the last save"
            )

    def _seconds(self) -> float:
        """How long the training has taken, by the clock of the main rank, so that all end together."""
        own = time.perf_counter() - self._started
        return self.world.total(own if self.world.is_main else 0.0)[0]

    # --- validation, checkpoints, the end -----------------------------------------------------------------------

    def _validate(self) -> None:
        """Loss and greedy BLEU on the validation set; the best loss so far is remembered."""
        progress = self.progress
        self._record_layers()
        loss = self._validation_loss()
        if not math.isfinite(loss):
            progress.worse_validations += 1
            self._tell("note", text=f"step {progress.step:,}: the validation loss is not a number")
            return
        figures: Event = {"loss": loss, "perplexity": math.exp(min(loss, 50.0))}
        if self.settings.validate_bleu:
            with gathered(self.objective):
                if self.world.is_main:
                    figures |= self._validation_bleu(self.settings.validate_bleu)
        if progress.best_loss is None or loss < progress.best_loss:
            progress.best_loss, progress.best_step, progress.worse_validations = loss, progress.step, 0
        else:
            progress.worse_validations += 1
        progress.seconds = self._seconds()
        self._tell("validate", epoch=progress.epoch, seconds=progress.seconds, flops=progress.flops, **figures)

    def _record_layers(self) -> None:
        """Note how large every layer's output and gradient are on the last batch of the main rank."""
        if self.settings.record_layers and self.world.is_main and self._last_batch is not None:
            self._tell("layers", **record_layers(self.objective, self._last_batch.to(self.device)))

    def _validation_loss(self) -> float:
        return mean_loss(self.objective, self.valid_split, self.settings.batch_tokens, self.world)

    def _validation_bleu(self, num_sentences: int) -> Event:
        rows = list(range(min(num_sentences, len(self.valid_split))))
        sources, _ = self.valid_split.ids(rows)
        src_texts, references = self.valid_split.texts(rows)
        sentences = [Sentence(ids.tolist()) for ids in sources]
        found = search(self.model, sentences, self.config.decoding.model_copy(update={"beam": 1}))
        translations = self.corpus.tgt_tokenizer.decode([hypotheses[0].ids for hypotheses in found])
        bleu, _ = score(translations, references, self.config.data.target)
        return {"bleu": bleu.value, "example": [src_texts[0], translations[0], references[0]]}

    def _save(self) -> None:
        """One rank writes, or each its part; all go on when the checkpoint is there."""
        progress, checkpoints = self.progress, self.run.checkpoints
        state = {**asdict(progress), **self._origin()}
        if self.world.is_main or self.config.distributed.shard:
            checkpoints.save(progress.step, model_tensors(self.model), self._optimizer_tensors(), state)
        if self.world.is_main:
            num_kept = max(self.settings.keep_last, self.settings.average_last)
            checkpoints.prune(keep={*self._regular_steps()[-num_kept:], progress.step, progress.best_step})
        self.world.wait()
        self._tell("save", path=str(checkpoints.path(progress.step)))

    def _regular_steps(self) -> list[int]:
        """Steps of the checkpoints that an uninterrupted training has too: an interruption changes no average."""
        settings, last = self.settings, self.progress.step
        return [
            step
            for step in self.run.checkpoints.steps()
            if step % settings.validate_every == 0
            or (settings.save_every is not None and step % settings.save_every == 0)
            or (step == last and self._is_over())
        ]

    def _choose_model(self) -> None:
        """The mean of the last checkpoints or the best one, whichever has the lower validation loss.

        Of a refinement by reward it is the mean or the last one: its aim is not the validation loss.
        """
        checkpoints, average_last = self.run.checkpoints, self.settings.average_last
        steps = checkpoints.steps()
        candidates = {}
        if self.progress.best_step in steps and self.settings.objective == "likelihood":
            candidates[f"step {self.progress.best_step}"] = checkpoints.load_model(self.progress.best_step)
        else:
            candidates[f"step {steps[-1]}"] = checkpoints.load_model(steps[-1])
        if average_last > 1 and len(steps) > 1:
            last = self._regular_steps()[-average_last:]
            candidates[f"mean of steps {', '.join(map(str, last))}"] = checkpoints.average(last)
        losses = {}
        for name, tensors in candidates.items():
            load_weights(self.model, tensors, name)
            losses[name] = self._validation_loss()
        chosen = min(losses, key=lambda name: losses[name])
        if self.world.is_main:
            self.run.save_model(candidates[chosen])
        self._tell("model", chosen=chosen, loss=losses[chosen])

    def _is_over(self) -> bool:
        settings, progress = self.settings, self.progress
        return (
            progress.step >= settings.max_steps
            or self._used() >= 1
            or (settings.patience is not None and progress.worse_validations >= settings.patience)
        )

    def _used(self) -> float:
        """The part of the minutes, tokens or FLOPs that is used up, whichever is larger; 0 where none is limited."""
        settings, progress = self.settings, self.progress
        return max(
            0.0 if settings.max_minutes is None else progress.seconds / (60 * settings.max_minutes),
            0.0 if settings.max_tokens is None else progress.tgt_tokens / settings.max_tokens,
            0.0 if settings.max_flops is None else progress.flops / settings.max_flops,
        )

    def _is_due(self, every: int | None) -> bool:
        return every is not None and self.progress.step % every == 0

    # --- going on where it stopped ------------------------------------------------------------------------------

    def _go_on_from_checkpoint(self) -> None:
        if not self.world.is_main:
            self.world.wait()  # the main rank sets damaged ones aside
        loaded = self.run.checkpoints.load_last(lambda text: self._tell("note", text=text))
        if self.world.is_main:
            self.world.wait()
            self.run.forget_metrics_after(0 if loaded is None else loaded[2]["step"])
        if loaded is None:
            self._start_from_other_run()
            return
        weights, optimizer_tensors, state = loaded
        load_weights(self.model, weights, str(self.run.checkpoints.folder))
        self.progress = Progress(**{field.name: state[field.name] for field in fields(Progress) if field.name in state})
        self._restore_optimizer(optimizer_tensors)
        if any(state.get(key, value) != value for key, value in self._origin().items()):  # allowed explicitly
            self._tell("note", text="data or batching have changed: the next epoch begins")
            self.progress.epoch += 1
            self.progress.pool = self.progress.batch = 0
        self._tell("note", text=f"going on from step {self.progress.step:,}")

    def _start_from_other_run(self) -> None:
        """Begin with the weights of the run that the configuration names, if it names one."""
        if self.settings.start_from is None:
            return
        run = RunDirectory(self.settings.start_from)
        load_weights(self.model, load_tensors(run.model_file), str(run.model_file))
        self._tell("note", text=f"starting from {run.path}: validation loss {self._validation_loss():.3f}")

    def _origin(self) -> dict[str, Any]:
        """What decides the batches of an epoch and their order."""
        settings = self.settings
        batching = [settings.batch_tokens, settings.accumulate, settings.seed]
        return {"corpus": self.corpus.fingerprint, "batching": batching}

    def _optimizer_tensors(self) -> dict[str, torch.Tensor]:
        """The optimizer's memory by parameter name."""
        state = self.optimizer.state
        return {
            f"{name}/{key}": for_storage(value)
            for name, parameter in self.model.named_parameters()
            for key, value in state[parameter].items()
        }

    def _restore_optimizer(self, tensors: dict[str, torch.Tensor]) -> None:
        parameters = dict(self.model.named_parameters())
        for full_name, tensor in tensors.items():
            name, _, key = full_name.rpartition("/")
            is_count = tensor.dim() == 0  # of steps: the optimizer keeps it whole
            self.optimizer.state[parameters[name]][key] = tensor if is_count else like(tensor, parameters[name])

    def _autocast(self) -> torch.autocast:
        precision = self.settings.precision
        can = self.device.type == "cuda" and torch.cuda.is_bf16_supported()
        is_on = precision == "bfloat16" or (precision == "auto" and can)
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=is_on)

    def _tell(self, event: str, **figures: Any) -> None:
        for listener in self.listeners:
            listener({"event": event, "step": self.progress.step, **figures})


@torch.no_grad()
def mean_loss(objective: Objective, split: Split, batch_tokens: int, world: World) -> float:
    """The loss a token over a whole split, without dropout; each rank computes its share."""
    was_training = objective.training
    objective.eval()
    total, count = 0.0, 0
    plan = plan_batches(split.src_lengths, split.tgt_lengths, batch_tokens)
    for start in range(0, len(plan), world.size):
        number = start + world.rank
        rows = plan[min(number, len(plan) - 1)]  # a rank without a batch computes along, since layers may be shared
        loss, num_tokens = objective(collate(*split.ids(rows)).to(world.device))
        if number < len(plan):
            total += float(loss)
            count += num_tokens
    objective.train(was_training)
    total, all_tokens = world.total(total, count)
    return total / all_tokens


def _seeds(*key: int) -> list[int]:
    """Two random seeds that depend on the key alone."""
    return [int(seed) for seed in np.random.SeedSequence(key).generate_state(2)]
