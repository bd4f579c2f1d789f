"""What a training cost in floating-point operations, in two ways, which do not mean the same.

*Counted*: the matrix products that the model does. A product of (a, b) and (b, c) counts 2·a·b·c. Backward costs twice
forward: one product for the gradient of each factor. Sums, norms and softmax are left out, as is usual; they are a
small part of the arithmetic. This figure is the same on every machine.

*By time*: training time × number of devices × operations a second that one such device sustains in single precision.
This is what the devices could have done in that time: waiting, small products and all that is no product count as well.

Paper: Vaswani et al. 2017, section 6.1 and footnote 5: its Table 2 is made by time.
Differs: the paper estimates what a device sustains (2.8, 3.7, 6.0 and 9.5 TFLOPS for K80, K40, M40 and P100); here it
is measured, with a product of the size that a training step has.
"""

from __future__ import annotations

import time
from statistics import median

import torch

from jumok.data.batching import Batch
from jumok.models.interface import BatchShape, TranslationModel

COUNTED = "counted: 2 operations for each multiply-add of the model's matrix products, backward twice forward"
BY_TIME = "by time, as in the paper: training time × devices × operations a second that a device sustains"


def training_flops(model: TranslationModel, batch: Batch) -> int:
    """Forward and backward of one batch, padding included where it is computed."""
    return 3 * forward_flops(model, shape_of(batch))


def forward_flops(model: TranslationModel, shape: BatchShape) -> int:
    """One teacher-forced pass."""
    return 2 * model.multiply_adds(shape)


def shape_of(batch: Batch) -> BatchShape:
    """How much there is to compute."""
    num_rows, src_length = batch.src.shape
    return BatchShape(num_rows, src_length, batch.tgt_in.shape[1], batch.num_src_tokens, batch.num_tgt_tokens)


def flops_by_time(seconds: float, sustained: float, num_devices: int = 1) -> float:
    """The paper's way: what so many devices do in this time if they never wait."""
    return seconds * num_devices * sustained


def sustained_flops(device: torch.device, num_tokens: int, d_model: int, seconds: float = 0.5) -> float:
    """Operations a second in single precision, measured for about so many seconds.

    The product is the first half of a feed-forward network: (tokens, d_model) by (d_model, 4·d_model). On a CPU all
    threads that torch may use are one device.
    """
    left = torch.randn(num_tokens, d_model, device=device)
    right = torch.randn(d_model, 4 * d_model, device=device)
    _timed_product(left, right)  # the first one also loads libraries and wakes threads
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        times.append(_timed_product(left, right))
    return 2 * num_tokens * d_model * 4 * d_model / median(times)


def _timed_product(left: torch.Tensor, right: torch.Tensor) -> float:
    started = time.perf_counter()
    float((left @ right)[0, 0])  # a GPU has finished when a number is read
    return time.perf_counter() - started
