"""The limit of a training step: the time of its matrix products alone.

Definition. While a real step runs (forward, backward, update), every matrix product that PyTorch dispatches
is written down with the shapes and strides of its operands and of its result: `mm`, `addmm`, `bmm`,
`baddbmm`, `mv`, `addmv`, which is what linear layers, their gradients and unfused attention come down to.
The limit is the time that exactly these products take on random numbers of the same shapes and layouts, in
the same order, in the same process, with the same threads, each written into memory that is there already.
Nothing is allocated, no other operation runs, and all products share one buffer for each operand, so caches
are as warm as they can be: no program that computes these products with the same library is faster.

What a fused kernel computes inside is not counted (`scaled_dot_product_attention` on CPU is one: its two
products and their gradients). The limit is then a little too fast, and the reported share a little too low;
the number of such calls is reported as `uncounted_attention_calls`.

Steps and their products alternate (step, products, step, products …) over a list of real batches, so that
both see the same state of the machine. Reported: target tokens a second of the steps and of the products
alone, and `ratio_to_limit`, the products' share of the step's time: 1.0 would be a step that does nothing
but its products.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jumok_train import write_config
from meter import arguments
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv"}
Layout = tuple[tuple[int, ...], tuple[int, ...], torch.dtype]  # shape, strides, type


@dataclass(frozen=True)
class Step:
    """One training step on one batch: what to call, and how many target tokens it trains on (no padding)."""

    run: Callable[[], object]
    tgt_tokens: int


@dataclass(frozen=True)
class Product:
    """One matrix product: operands in the order of the call, and beta and alpha where they were given."""

    name: str
    operands: tuple[Layout, ...]
    result: Layout
    scale: tuple[tuple[str, float], ...] = ()

    @property
    def flops(self) -> int:
        """Two for each multiplication and addition: the result's elements times the length of the sum."""
        inner = self.operands[-2][0][-1]
        elements = 1
        for length in self.result[0]:
            elements *= length
        return 2 * elements * inner


def layout(tensor: Tensor) -> Layout:
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype


@dataclass
class Recorder(TorchDispatchMode):
    """Writes down the matrix products of whatever runs under it, backward passes included."""

    products: list[Product] = field(default_factory=list)
    attention_calls: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__.removesuffix("_")  # in place or not is the same product
        if name in PRODUCTS:
            scale = tuple((key, (kwargs or {})[key]) for key in ("beta", "alpha") if key in (kwargs or {}))
            operands = tuple(layout(arg) for arg in args if isinstance(arg, Tensor))
            self.products.append(Product(name, operands, layout(result), scale))
        self.attention_calls += name.startswith("_scaled_dot_product")
        return result


class Replay:
    """The recorded products of some steps, ready to run on shared buffers of random numbers."""

    def __init__(self, recorded: Sequence[Sequence[Product]]) -> None:
        self.buffers: dict[tuple[str, torch.dtype], Tensor] = {}
        every = [product for products in recorded for product in products]
        for product in every:
            self._reserve("result", product.result)
            for place, operand in enumerate(product.operands):
                self._reserve(f"operand {place}", operand)
        for buffer in self.buffers.values():
            buffer.normal_()
        self.calls = [[self._call(product) for product in products] for products in recorded]

    def run(self, index: int) -> None:
        """Compute the products of one step."""
        for call in self.calls[index]:
            call()

    def _reserve(self, place: str, wanted: Layout) -> None:
        shape, strides, dtype = wanted
        size = 1 + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
        if (place, dtype) not in self.buffers or self.buffers[place, dtype].numel() < size:
            self.buffers[place, dtype] = torch.empty(size, dtype=dtype)

    def _view(self, place: str, wanted: Layout) -> Tensor:
        shape, strides, dtype = wanted
        return self.buffers[place, dtype].as_strided(shape, strides)

    def _call(self, product: Product) -> Callable[[], Tensor]:
        function = getattr(torch, product.name)
        operands = [self._view(f"operand {place}", operand) for place, operand in enumerate(product.operands)]
        result, scale = self._view("result", product.result), dict(product.scale)
        return lambda: function(*operands, out=result, **scale)


def record(step: Step) -> tuple[list[Product], int]:
    """Run one step and return its products and the number of fused attention calls beside them."""
    with Recorder() as recorder:
        step.run()
    return recorder.products, recorder.attention_calls


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def measure(steps: Sequence[Step], seconds: float) -> dict[str, Any]:
    """Alternate every step with its products until `seconds` have passed, whole rounds over the batches."""
    recorded = [record(step) for step in steps]
    replay = Replay([products for products, _ in recorded])
    for index, step in enumerate(steps):
        step.run()
        replay.run(index)
    step_seconds = product_seconds = 0.0
    rounds = 0
    while step_seconds + product_seconds < seconds:
        for index, step in enumerate(steps):
            step_seconds += timed(step.run)
            product_seconds += timed(lambda index=index: replay.run(index))
        rounds += 1
    tgt_tokens = rounds * sum(step.tgt_tokens for step in steps)
    flops = rounds * sum(product.flops for products, _ in recorded for product in products)
    return {
        "system": "limit",
        "target_tokens_per_second": round(tgt_tokens / product_seconds, 1),
        "step_target_tokens_per_second": round(tgt_tokens / step_seconds, 1),
        "ratio_to_limit": round(product_seconds / step_seconds, 4),
        "steps": rounds * len(steps),
        "target_tokens": tgt_tokens,
        "seconds": round(product_seconds, 2),
        "step_seconds": round(step_seconds, 2),
        "products_a_step": round(sum(len(products) for products, _ in recorded) / len(steps)),
        "uncounted_attention_calls": round(sum(calls for _, calls in recorded) / len(steps)),
        "products_gflops_a_second": round(flops / product_seconds / 1e9, 1),
        "tokens_per_batch": round(tgt_tokens / rounds / len(steps)),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


# --- the seam to Jumok: the one function here that knows its trainer ----------------------------------------
def jumok_steps(config_file: Path, num_batches: int) -> list[Step]:
    """Jumok's own updates, making of the batch included, on batches spread over the lengths of its corpus."""
    from jumok.config import load_config
    from jumok.data.batching import plan_batches
    from jumok.pipeline import prepare
    from jumok.storage.run_directory import RunDirectory
    from jumok.training.trainer import Trainer

    config = load_config(config_file)
    folder = config_file.parent
    trainer = Trainer(config, prepare(config, say=lambda text: None), RunDirectory(folder / "limit"))
    trainer.model.train()
    split = trainer.train_split
    # Without a seed the plan goes from the shortest sentences to the longest.
    plan = plan_batches(split.src_lengths, split.tgt_lengths, config.training.batch_tokens)
    chosen = [plan[(2 * i + 1) * len(plan) // (2 * num_batches)] for i in range(num_batches)]

    def step(rows: Any) -> Step:
        num_tokens = int(split.tgt_lengths[rows].sum()) + len(rows)  # each sentence ends with its mark
        return Step(lambda: trainer._update([rows]), num_tokens)

    return [step(rows) for rows in chosen]


def stand_in_steps(num_batches: int, batch_tokens: int) -> list[Step]:
    """A plain `nn.Transformer` of the benchmark's size on random ids, to try the measurement on."""
    vocab_size, d_model, length = 8000, 256, 16
    model = nn.Transformer(d_model, 8, 3, 3, 1024, dropout=0.2, batch_first=True, norm_first=True)
    embedding = nn.Embedding(vocab_size, d_model)
    optimizer = torch.optim.Adam([*model.parameters(), *embedding.parameters()], lr=1e-4, fused=True)
    causal = nn.Transformer.generate_square_subsequent_mask(length)

    def step(src: Tensor, tgt: Tensor) -> None:
        hidden = model(embedding(src), embedding(tgt), tgt_mask=causal, tgt_is_causal=True)
        logits = hidden.flatten(0, 1) @ embedding.weight.t()
        nn.functional.cross_entropy(logits, tgt.flatten(), label_smoothing=0.1).backward()
        optimizer.step()
        optimizer.zero_grad()

    steps = []
    for _ in range(num_batches):
        src, tgt = torch.randint(vocab_size, (2, batch_tokens // length, length))
        steps.append(Step(lambda src=src, tgt=tgt: step(src, tgt), tgt.numel()))
    return steps


def main() -> None:
    parser = arguments("Time Jumok's training step against its matrix products alone.")
    parser.add_argument("--batches", type=int, default=6, help="batches of different lengths to go through")
    parser.add_argument("--stand-in", action="store_true", help="measure nn.Transformer instead of Jumok")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    if options.stand_in:
        steps = stand_in_steps(options.batches, options.batch_tokens)
    else:
        os.chdir(options.scratch)
        config_file = write_config(options.data, options.scratch, options.batch_tokens, options.threads)
        steps = jumok_steps(config_file, options.batches)
    print(json.dumps(measure(steps, options.seconds)), flush=True)


if __name__ == "__main__":
    main()
