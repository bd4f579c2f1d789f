"""Eole: its own training loop on a Transformer of the benchmark's size.

Pre-norm, Eole's default. `batch_size` counts padded tokens of the longer side, which is how Eole batches.
The bucket holds the whole corpus, so that lengths group as well as they can. Eole's logging of the
attention's entropy, which it would do at each step, is off.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from eole.bin.run.train import train
from eole.config.run import TrainConfig
from eole.trainer import Trainer
from meter import Meter, arguments
from pieces import SPECIAL, read_pieces, read_vocab


class EnoughMeasured(Exception):
    """Ends Eole's loop."""


def configuration(pieces: Path, vocab: Path, scratch: Path, batch_tokens: int) -> TrainConfig:
    """A run of Eole on the prepared pieces: no validation, no checkpoints."""
    return TrainConfig(
        data={"train": {"path_src": str(pieces / "train.src"), "path_tgt": str(pieces / "train.tgt")}},
        src_vocab=str(vocab),
        tgt_vocab=str(vocab),
        share_vocab=True,
        vocab_size_multiple=1,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        decoder_start_token="<s>",
        seed=1,
        report_every=100_000,
        model={
            "architecture": "transformer",
            "layers": 3,
            "heads": 8,
            "hidden_size": 256,
            "transformer_ff": 1024,
            "add_qkvbias": True,
            "add_ffnbias": True,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {"word_vec_size": 256, "position_encoding_type": "SinusoidalInterleaved"},
        },
        training={
            "model_path": str(scratch / "model"),
            "compute_dtype": "fp32",
            "batch_type": "tokens",
            "batch_size": batch_tokens,
            "normalization": "tokens",
            "bucket_size": len(read_pieces(pieces, "src")),
            "num_workers": 0,
            "optim": "adam",
            "adam_beta2": 0.998,
            "learning_rate": 2.0,
            "decay_method": "noam",
            "warmup_steps": 4000,
            "param_init_method": "xavier_uniform",
            "dropout": [0.2],
            "attention_dropout": [0.0],
            "label_smoothing": 0.1,
            "log_attention_entropy": False,
            "train_steps": 100_000,
            "valid_steps": 100_000,
            "save_checkpoint_steps": 100_000,
        },
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    vocab = options.scratch / "vocab.txt"
    plain = read_vocab(options.pieces)[len(SPECIAL) :]  # Eole adds the special ones itself
    vocab.write_text("".join(f"{piece}\t1\n" for piece in plain), "utf-8")

    plain_step = Trainer._train_step
    meter: Meter | None = None
    num_params = 0

    def metered_step(self: Trainer, batches: Any, norm: Any, total: Any, report: Any, **more: Any) -> None:
        """Eole's step, then its own count of the target tokens that are not padding."""
        nonlocal meter, num_params
        if meter is None:
            meter = Meter(options.warmup, options.seconds)
            num_params = sum(p.numel() for p in self.model.parameters() if p.requires_grad)
        before = total.n_tokens
        plain_step(self, batches, norm, total, report, **more)
        if meter.step(int(total.n_tokens - before)):
            raise EnoughMeasured

    Trainer._train_step = metered_step
    with suppress(EnoughMeasured):
        train(configuration(options.pieces, vocab, options.scratch, options.batch_tokens))
    assert meter is not None
    meter.report("eole", version=version("eole"), params=num_params)


if __name__ == "__main__":
    main()
