"""Computes the numbers of both guides from Jumok's own code: `python docs/guide_numbers.py`; a test looks for each."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from jumok.architectures import TransformerConfig
from jumok.comparison.layers import Convolution, DilatedConvolution, Recurrent, SelfAttention, longest_chain
from jumok.decoding.length_penalty import length_penalty
from jumok.evaluation.cost import flops_by_time, forward_flops
from jumok.inspection.positions import position_tables, rotation, similarities
from jumok.models.interface import BatchShape
from jumok.models.transformer import Transformer
from jumok.nn.attention import scaled_dot_product_attention
from jumok.nn.masks import Masking
from jumok.training.loss import label_smoothed_cross_entropy
from jumok.training.schedule import paper_learning_rate

NUM_PIECES = 37000
Numbers = dict[str, str]


def power(value: float, digits: int) -> str:
    """A number as a·10^b, in the way the pages write it inside $…$."""
    exponent = math.floor(math.log10(value))
    return f"{value / 10**exponent:.{digits}f} \\cdot 10^{{{exponent}}}"


def scaling() -> Numbers:
    """Section 3.2.1: 5,000 random queries, 20 random keys each, components of mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(1)
    numbers: Numbers = {}
    for d_k in (64, 512):
        q = torch.randn(5000, 1, d_k, generator=generator)
        k = torch.randn(5000, 20, d_k, generator=generator)
        if d_k == 64:
            numbers["variance of q·k"] = f"{float((q @ k.mT).var()):.0f}"
        for scale in (True, False):
            _, weights = scaled_dot_product_attention(q, k, k, scale_scores=scale)
            w = weights[:, 0].double()
            largest = w.max(dim=-1).values
            entropy = -(w * w.clamp(min=1e-300).log()).sum(dim=-1).mean()
            squares = w.square().sum(dim=-1)
            derivative = (squares - 2 * w.pow(3).sum(dim=-1) + squares.square()).sqrt()  # ‖diag(w) − w·wᵀ‖
            name = f"{d_k}, {'scaled' if scale else 'not scaled'}"
            numbers |= {
                f"largest weight, mean, {name}": f"{float(largest.mean()):.2f}",
                f"largest above 0.99, {name}": f"{float((largest > 0.99).double().mean()):.0%}".replace("%", " %"),
                f"entropy, {name}": f"{float(entropy):.2f}",
                f"softmax derivative, median, {name}": f"{float(derivative.median()):.2g}",
            }
    return numbers


def masks() -> Numbers:
    """Section 3.2.3: three keys with scores 2, 1 and 3, of which the third is hidden."""
    q, k = torch.ones(1, 1), torch.tensor([[2.0], [1.0], [3.0]])
    visible = torch.tensor([[True, True, False]])
    ways: tuple[Masking, ...] = ("minus_infinity", "zero_before", "zero_after")
    return {
        f"weights, {way}": " | ".join(
            f"{weight:.3f}" for weight in scaled_dot_product_attention(q, k, k, visible, masking=way)[1][0].tolist()
        )
        for way in ways
    }


def positions() -> Numbers:
    """Section 3.5, with d_model = 512."""
    tables = position_tables(512, 512)
    sinusoids = tables["sinusoidal"].vectors
    apart = {name: table.distances for name, table in tables.items()}
    error = max(np.abs(sinusoids[k:] - sinusoids[:-k] @ rotation(k, 512).T).max() for k in (1, 7, 50))
    short, long = (position_tables(length, 512)["scaled_counts"].distances[0, 1] for length in (5, 50))
    alike = similarities(101, 512) / 256
    return {
        "counts, one step": f"{apart['counts'][0, 1]:.1f}",
        "counts, position 50": f"{apart['counts'][0, 50]:.0f}",
        "scaled counts, one step of 5 words": f"{short:.2f}",
        "scaled counts, one step of 50 words": f"{long:.2f}",
        "bits, 7 and 8": f"{apart['bits'][7, 8]:.2f}",
        "bits, 0 and 8": f"{apart['bits'][0, 8]:.2f}",
        "bits, 127 and 128": f"{apart['bits'][127, 128]:.2f}",
        **{f"sinusoids, {k} apart": f"{apart['sinusoidal'][100, 100 + k]:.2f}" for k in (1, 2, 8, 50)},
        "length of a position": f"{np.linalg.norm(sinusoids[7]):.1f}",
        **{f"similarity, {k} apart": f"{alike[k]:.2f}" for k in (1, 2, 5, 10, 50, 100)},
        "rotation error is below 10^-7": "10^{-7}" if error < 1e-7 else f"no longer true: {error}",
    }


def sizes() -> Numbers:
    """Parameters of the paper's models, built without memory for their weights."""
    with torch.device("meta"):
        base = Transformer(TransformerConfig(), NUM_PIECES, NUM_PIECES, 0)
        big = Transformer(TransformerConfig(d_model=1024, d_ff=4096, num_heads=16), NUM_PIECES, NUM_PIECES, 0)
        untied = Transformer(TransformerConfig(tie_embeddings="none"), NUM_PIECES, NUM_PIECES, 0)
    layer = base.encoder.layers[0]
    feeding = _size(layer.feed_forward)
    batch = BatchShape(num_rows=1000, src_length=25, tgt_length=25, num_src_tokens=25000, num_tgt_tokens=25000)
    base_counted, big_counted = (n * 3 * forward_flops(m, batch) for n, m in ((100_000, base), (300_000, big)))
    base_by_time, big_by_time = (flops_by_time(hours * 3600, 9.5e12, 8) for hours in (12, 84))
    return {
        "base": f"{_size(base) / 1e6:.2f} M",
        "big": f"{_size(big) / 1e6:.1f} M",
        "untied": f"{_size(untied) / 1e6:.1f} M",
        "one embedding": f"{base.src_embedding.weight.numel() / 1e6:.2f} M",
        "attention": f"{_size(layer.self_attention):,}",
        "feed-forward": f"{feeding:,}",
        "feed-forward's part": f"{12 * feeding / _size(base):.0%}".replace("%", " %"),
        "base, counted": power(base_counted, 1),
        "big, counted": power(big_counted, 1),
        "base, by time": power(base_by_time, 1),
        "big, by time": power(big_by_time, 1),
        "base, busy": f"{base_counted / base_by_time:.0%}".replace("%", " %"),
        "big, busy": f"{big_counted / big_by_time:.0%}".replace("%", " %"),
    }


def _size(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def residuals() -> Numbers:
    """Section 3.1: how far apart positions are after the encoder, and gradients at the decoder's layers.

    6 + 6 post-norm layers, d_model 128, untrained.
    """
    numbers: Numbers = {}
    for use_residual in (True, False):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            config = TransformerConfig(d_model=128, d_ff=512, num_heads=4, dropout=0.0, use_residual=use_residual)
            model = Transformer(config, 1000, 1000, 0)
            src, tgt, out = torch.randint(4, 1000, (3, 8, 20)).unbind(0)
        inputs: list[torch.Tensor] = []

        def remember(_: object, arguments: tuple[torch.Tensor, ...], seen: list[torch.Tensor] = inputs) -> None:
            arguments[0].retain_grad()
            seen.append(arguments[0])

        for layer in model.decoder.layers:
            layer.register_forward_pre_hook(remember)
        hidden, notes = model.forward_with_notes(src, tgt)
        F.cross_entropy(model.project(hidden).flatten(0, 1), out.flatten()).backward()
        spread = float(notes.encoder[-1].stream[-1].detach().std(dim=1).mean())
        norms = [float(x.grad.norm()) for x in inputs if x.grad is not None]
        if use_residual:
            numbers |= {"spread": f"{spread:.1f}", "layer 6": power(norms[5], 0), "layer 1": power(norms[0], 0)}
        else:
            is_lost = spread < 1e-6 and norms[5] < 1e-6 and norms[0] == 0
            numbers["both below, without residuals"] = "10^{-6}" if is_lost else f"no longer true: {spread}, {norms}"
    return numbers


def paths() -> Numbers:
    """Section 4: products that wait for each other, and layers from one end to the other, of 64 positions."""
    numbers: Numbers = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for kind in (SelfAttention, Recurrent, Convolution, DilatedConvolution):
            layer = kind(16, 2).double()
            steps = longest_chain(layer.as_written(torch.randn(1, 64, 16, dtype=torch.float64, requires_grad=True)))
            numbers[kind.name] = f"{steps} | {layer.path_length(64)}"
    return numbers


def learning_rates() -> Numbers:
    """Section 5.3: equation 3 with 4,000 steps of warm-up."""
    return {
        "base, step 1": power(paper_learning_rate(1, 512, 4000), 2),
        "base, step 4,000": power(paper_learning_rate(4000, 512, 4000), 1),
        "base, step 100,000": power(paper_learning_rate(100_000, 512, 4000), 1),
        "big, step 4,000": power(paper_learning_rate(4000, 1024, 4000), 1),
    }


def smoothing() -> Numbers:
    """Section 5.4: ε = 0.1 over 37,000 pieces; the rest of the probability spread evenly."""
    best = 0.9 + 0.1 / NUM_PIECES
    numbers = {"best probability": f"{best:.6f}"}
    for p in (best, 0.5, 0.99, 0.999999):
        rest = torch.full((1, NUM_PIECES), (1 - p) / (NUM_PIECES - 1), dtype=torch.float64)
        rest[0, 0] = p
        target = torch.zeros(1, dtype=torch.int64)
        for epsilon in (0.1, 0.0):
            loss = float(label_smoothed_cross_entropy(rest.log(), target, epsilon))
            numbers[f"loss at {p:.6g}, ε = {epsilon}"] = f"{loss:.3f}"
    return numbers


def search() -> Numbers:
    """Section 6.1: α = 0.6; two hypotheses of 8 and 11 pieces; what a translation 6 % too short loses."""
    return {
        **{f"lp({n})": f"{length_penalty(n, 0.6):.2f}" for n in (5, 8, 11, 20, 40)},
        "short one": f"{-6.0 / length_penalty(8, 0.6):.2f}".replace("-", "−"),
        "long one": f"{-6.6 / length_penalty(11, 0.6):.2f}".replace("-", "−"),
        "brevity": f"{math.exp(1 - 1 / 0.94):.3f}",
        "twenty right pieces": f"{0.95**20:.2f}",
    }


PARTS = (scaling, masks, positions, sizes, residuals, paths, learning_rates, smoothing, search)

if __name__ == "__main__":
    for part in PARTS:
        print(f"\n{part.__doc__}")
        for name, value in part().items():
            print(f"  {name:45} {value}")
