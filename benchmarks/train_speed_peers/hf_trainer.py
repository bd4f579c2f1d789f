"""Hugging Face: `Seq2SeqTrainer` on a `MarianMTModel` of the benchmark's size, batches grouped by length.

Post-norm, as the Marian model of that library is. The batch size counts sentences, there being no other way
in this trainer; it is chosen so that a batch holds `--batch-tokens` target tokens on average. Sentences are
grouped by the longer of the two sides (`length_column_name`): 13 % padding on this corpus, less than by
source (40 %) or target (26 %) alone, weighed by the work done on each side.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from datasets import Dataset
from meter import Meter, arguments
from pieces import EOS, PAD, read_ids, read_vocab
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianConfig, MarianMTModel, Seq2SeqTrainer, Seq2SeqTrainingArguments


def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """Pad a batch; the decoder reads the target shifted right behind the start token, here PAD."""
    src = pad_sequence([torch.tensor(row["input_ids"]) for row in rows], True, PAD)
    tgt = pad_sequence([torch.tensor(row["labels"]) for row in rows], True, PAD)
    shifted = torch.nn.functional.pad(tgt[:, :-1], (1, 0), value=PAD)
    labels = tgt.masked_fill(tgt == PAD, -100)
    return {"input_ids": src, "attention_mask": src.ne(PAD), "decoder_input_ids": shifted, "labels": labels}


class MeteredTrainer(Seq2SeqTrainer):
    """The trainer as it is, with its steps counted."""

    meter: Meter
    tgt_tokens = 0

    def training_step(self, model: torch.nn.Module, inputs: dict[str, Any], *rest: Any) -> torch.Tensor:
        self.tgt_tokens = int(inputs["labels"].ne(-100).sum())
        return super().training_step(model, inputs, *rest)


class Count(transformers.TrainerCallback):
    """Tells the meter of every optimizer step and ends the run when enough was measured."""

    def __init__(self, trainer: MeteredTrainer) -> None:
        self.trainer = trainer

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        control.should_training_stop = self.trainer.meter.step(self.trainer.tgt_tokens)


def main() -> None:
    options = arguments(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    src, tgt = (read_ids(options.pieces, side) for side in ("src", "tgt"))
    longer = [max(len(s), len(t)) for s, t in zip(src, tgt, strict=True)]
    data = Dataset.from_dict({"input_ids": src, "labels": tgt, "length": longer})
    batch_size = round(options.batch_tokens * len(tgt) / sum(map(len, tgt)))
    size = {"layers": 3, "attention_heads": 8, "ffn_dim": 1024}
    config = MarianConfig(
        vocab_size=len(read_vocab(options.pieces)),
        d_model=256,
        **{f"{part}_{key}": value for part in ("encoder", "decoder") for key, value in size.items()},
        dropout=0.2,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PAD,
        decoder_start_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        use_cache=False,
    )
    trainer = MeteredTrainer(
        model=MarianMTModel(config),
        args=Seq2SeqTrainingArguments(
            output_dir=str(options.scratch),
            use_cpu=True,
            per_device_train_batch_size=batch_size,
            train_sampling_strategy="group_by_length",
            length_column_name="length",
            label_smoothing_factor=0.1,
            learning_rate=5e-4,
            warmup_steps=1000,
            max_steps=100_000,
            dataloader_num_workers=0,
            dataloader_pin_memory=False,
            eval_strategy="no",
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=data,
        data_collator=collate,
    )
    trainer.add_callback(Count(trainer))
    trainer.meter = Meter(options.warmup, options.seconds)
    trainer.train()
    num_params = sum(p.numel() for p in trainer.model.parameters() if p.requires_grad)
    trainer.meter.report("huggingface", version=transformers.__version__, params=num_params)


if __name__ == "__main__":
    main()
