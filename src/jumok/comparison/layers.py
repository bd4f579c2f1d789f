"""The paper's Table 1, measured on this machine: what a layer costs as the sentence grows.

Three questions to each kind of layer, at each length n:

1. Sequential steps: how many products have to wait for each other? Answered by the graph that autograd keeps of one
   forward pass: the most matrix products on any way through it.
2. Path length: how far is it from one end of the sentence to the other? Answered by derivatives: so many layers (of a
   recurrent layer, so many steps) until the output at the last position depends on the input at the first.
3. Time: forward and backward of one layer, as it is used in training.

Paper: Vaswani et al. 2017, section 4, Table 1.
Differs: the paper's complexity leaves out the projections of attention, O(n·d²); the time here has them. A convolution
is measured twice, since the path that the paper gives, O(log_k(n)), is that of dilated kernels.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.comparison import paper
from jumok.comparison.paper import LayerFormulas
from jumok.errors import UsageError
from jumok.nn.attention import MultiHeadAttention, scaled_dot_product_attention
from jumok.nn.recurrent import RecurrentLayer

LENGTHS = (16, 32, 64, 128, 256, 512)
KERNEL = 3
RADIUS = 8

_NUM_ROWS = 4  # sentences side by side when time is taken
_NARROW, _NARROW_HEADS = 16, 2  # width at which steps and paths are counted: they do not depend on it
_MAX_REPEATS, _SECONDS_A_CELL = 7, 0.4
_PRODUCTS = {"Mm", "Addmm", "Bmm", "Baddbmm", "Convolution", "Linear", "Mv", "Addmv"}  # as autograd names them


@dataclass(frozen=True)
class LayerMeasure:
    """One kind of layer at one length; beside each figure how it grows by the paper's Table 1."""

    layer: str
    length: int
    d_model: int
    num_rows: int  # sentences side by side in the time
    sequential_steps: int
    path_length: int
    seconds: float  # forward and backward
    complexity_formula: str
    sequential_formula: str
    path_formula: str


def to_json(measures: Sequence[LayerMeasure]) -> list[dict[str, Any]]:
    """As plain values."""
    return [asdict(measure) for measure in measures]


def from_json(values: Sequence[dict[str, Any]]) -> list[LayerMeasure]:
    """Back from plain values."""
    return [LayerMeasure(**value) for value in values]


def measure_layers(
    d_model: int = 256, lengths: Sequence[int] = LENGTHS, num_heads: int = 8, seed: int = 1
) -> list[LayerMeasure]:
    """Every kind of layer at every length, on the CPU with the threads that torch may use."""
    if d_model < 1 or num_heads < 1 or d_model % num_heads:
        raise UsageError(
            f"Table 1: d_model = {d_model} is not a multiple of num_heads = {num_heads}; use 256 and 8, say"
        )
    if not lengths or min(lengths) < 2:
        raise UsageError(f"Table 1: lengths = {list(lengths)}: a path needs two positions; use 16, 32, 64, say")
    measures = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for kind in KINDS:
            layer, narrow = kind(d_model, num_heads), kind(_NARROW, _NARROW_HEADS).double()
            for length in lengths:
                measures.append(
                    LayerMeasure(
                        layer=kind.name,
                        length=length,
                        d_model=d_model,
                        num_rows=_NUM_ROWS,
                        sequential_steps=longest_chain(narrow.as_written(_random_input(narrow, 1, length, _NARROW))),
                        path_length=narrow.path_length(length),
                        seconds=_median_seconds(layer, _random_input(layer, _NUM_ROWS, length, d_model)),
                        complexity_formula=kind.formulas.complexity,
                        sequential_formula=kind.formulas.sequential,
                        path_formula=kind.formulas.path,
                    )
                )
    return measures


# --- the layers --------------------------------------------------------------------------------------------------


class MeasuredLayer(nn.Module, ABC):
    """A layer (B, n, D) -> (B, n, D) in two ways that agree: as it is trained, and product by product."""

    name: ClassVar[str]
    formulas: ClassVar[LayerFormulas]

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """As it is trained: by the fastest path there is."""
        return self.as_written(x)

    @abstractmethod
    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """Product by product, so that autograd sees each; `depth`: how many layers are below it in a stack."""

    def path_length(self, length: int) -> int:
        """Layers that have to stand on each other until the last position depends on the first.

        The derivative with respect to the first position is carried upwards layer by layer. Only where it is zero
        matters: elsewhere it gets length 1 again, so that no depth makes it vanish.
        """
        x = torch.randn(1, length, _NARROW, dtype=torch.float64)
        derivative = torch.zeros_like(x)
        derivative[:, 0] = torch.randn(_NARROW)
        for depth in range(length):
            (derivative,) = _pushed(lambda y, d=depth: (self.as_written(y, d),), (x,), (derivative,))
            derivative = F.normalize(derivative, dim=-1, eps=1e-200)
            x = torch.randn_like(x)  # any input will do, and this one never grows or dies out
            if derivative[:, -1].any():
                return depth + 1
        raise AssertionError(f"{self.name}: {length} layers do not connect {length} positions")


class SelfAttention(MeasuredLayer):
    """Every position looks at every other."""

    name, formulas = "self-attention", paper.SELF_ATTENTION

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, x: Tensor) -> Tensor:
        """With the kernel that suits the length."""
        return self.attention(x)[0]  # type: ignore[no-any-return]

    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """Equation 1."""
        q, memory = self.attention.query_key_value(x)
        context, _ = scaled_dot_product_attention(q, *memory)
        return self.attention.project_out(context.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class RestrictedAttention(MeasuredLayer):
    """Every position looks at its neighbours, at most r away on either side.

    Blocks of r queries each look at three blocks of keys, their own and the two beside it, inside which a band is
    visible: n/r products of r by 3·r, so that the work grows with r·n and not with n².

    Differs: the paper's r is the size of the whole neighbourhood, here 2·r + 1.
    """

    name, formulas = f"self-attention, r = {RADIUS}", paper.RESTRICTED

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """Equation 1 in blocks."""
        length, r = x.size(1), RADIUS
        num_blocks = -(-length // r)
        fill = num_blocks * r - length
        q, (k, v) = self.attention.query_key_value(x)  # (B, H, n, K) each
        q = F.pad(q, (0, 0, 0, fill)).view(*q.shape[:2], num_blocks, r, -1)  # (B, H, n/r, r, K)
        k, v = (F.pad(part, (0, 0, r, r + fill)).unfold(2, 3 * r, r).mT for part in (k, v))  # (B, H, n/r, 3·r, K)
        scores = (q @ k.mT / q.size(-1) ** 0.5).masked_fill(~_band(length), -torch.inf)
        context = (scores.softmax(dim=-1) @ v).flatten(2, 3)[:, :, :length]
        return self.attention.project_out(context.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def _band(length: int) -> Tensor:
    """Who may look at whom inside the blocks (n/r, r, 3·r): True means may attend."""
    starts = torch.arange(0, length, RADIUS).view(-1, 1, 1)
    query = starts + torch.arange(RADIUS).view(-1, 1)
    key = starts + torch.arange(-RADIUS, 2 * RADIUS)
    is_visible = ((query - key).abs() <= RADIUS) & (key >= 0) & (key < length)
    return is_visible | (query >= length)  # rows that only fill up the last block: never read, but no NaN either


class Recurrent(MeasuredLayer):
    """An LSTM: every position waits for the one before."""

    name, formulas = "recurrent (LSTM)", paper.RECURRENT

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.lstm = RecurrentLayer("lstm", d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """All steps in one call."""
        return self.lstm(x)[0]  # type: ignore[no-any-return]

    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """Step by step."""
        state, outputs = self.lstm.start(x.size(0)), []
        for t in range(x.size(1)):
            state = self.lstm.step(x[:, t], state)
            outputs.append(state[0])
        return torch.stack(outputs, dim=1)

    def path_length(self, length: int) -> int:
        """One layer connects all, but only step by step: the steps that carry the first word to the last."""
        state = self.lstm.start(1)
        carried = tuple(torch.zeros_like(part) for part in state)
        num_steps = 0
        for t in range(length):
            x = torch.randn(1, _NARROW, dtype=torch.float64)
            derivative = torch.ones_like(x) if t == 0 else torch.zeros_like(x)
            carried = _pushed(lambda y, *parts: self.lstm.step(y, parts), (x, *state), (derivative, *carried))
            carried = tuple(F.normalize(part, dim=-1, eps=1e-200) for part in carried)
            with torch.no_grad():
                state = self.lstm.step(x, state)
            num_steps += bool(carried[0].any())
        return num_steps


class Convolution(MeasuredLayer):
    """Every position sees itself and its two neighbours."""

    name, formulas = f"convolution, k = {KERNEL}", paper.CONVOLUTIONAL

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.conv = nn.Conv1d(d_model, d_model, KERNEL)

    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """One product over k positions."""
        return self._convolve(x, dilation=1)

    def _convolve(self, x: Tensor, dilation: int) -> Tensor:
        padding = dilation * (KERNEL // 2)
        return F.conv1d(x.mT, self.conv.weight, self.conv.bias, padding=padding, dilation=dilation).mT


class DilatedConvolution(Convolution):
    """Every position sees itself and two others, in each layer twice as far away as in the one below.

    Paper: Kalchbrenner et al. 2016 (ByteNet), on dilation: rates that double from layer to layer.
    Differs: doubling takes about log_2(n) layers; log_k(n), as in Table 1, would need rates that grow k-fold.
    """

    name, formulas = f"dilated conv., k = {KERNEL}", paper.DILATED

    def forward(self, x: Tensor) -> Tensor:
        """The second layer of a stack, the first that is dilated."""
        return self.as_written(x, depth=1)

    def as_written(self, x: Tensor, depth: int = 0) -> Tensor:
        """One product over k positions, which are 2^depth apart."""
        return self._convolve(x, dilation=2**depth)


KINDS: tuple[type[MeasuredLayer], ...] = (
    SelfAttention,
    Recurrent,
    Convolution,
    DilatedConvolution,
    RestrictedAttention,
)


# --- measuring ---------------------------------------------------------------------------------------------------


def longest_chain(output: Tensor) -> int:
    """The most matrix products on any way from an output back to what it was made from.

    Products that do not wait for each other stand on different ways, and count once.
    """
    longest: dict[Any, int] = {}
    pending: list[Any] = [output.grad_fn]
    while pending:  # a stack of our own: the graph of a recurrent layer is deeper than Python's
        node = pending[-1]
        parents = [parent for parent, _ in node.next_functions if parent is not None]
        if waiting := [parent for parent in parents if parent not in longest]:
            pending.extend(waiting)
            continue
        pending.pop()
        is_product = node.name().partition("Backward")[0] in _PRODUCTS
        longest[node] = max((longest[parent] for parent in parents), default=0) + is_product
    return longest[output.grad_fn]


def _pushed(function: Callable[..., Any], inputs: tuple[Tensor, ...], derivatives: tuple[Tensor, ...]) -> Any:
    """The derivative of the function's value where the inputs have these."""
    return torch.autograd.functional.jvp(function, inputs, derivatives)[1]  # type: ignore[no-untyped-call]


def _median_seconds(layer: nn.Module, x: Tensor) -> float:
    times: list[float] = []
    _run_once(layer, x)  # the first also wakes threads and fills caches
    while not times or (len(times) < _MAX_REPEATS and sum(times) < _SECONDS_A_CELL):
        started = time.perf_counter()
        _run_once(layer, x)
        times.append(time.perf_counter() - started)
    return median(times)


def _run_once(layer: nn.Module, x: Tensor) -> None:
    layer.zero_grad(set_to_none=True)
    x.grad = None
    layer(x).sum().backward()


def _random_input(layer: nn.Module, num_rows: int, length: int, d_model: int) -> Tensor:
    dtype = next(layer.parameters()).dtype
    return torch.randn(num_rows, length, d_model, dtype=dtype, requires_grad=True)
