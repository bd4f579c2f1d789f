"""Every system that a comparison can name: its paper, and what makes it differ from the shared configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Values = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A system of the literature; the values go over the shared sections of the same name."""

    title: str
    paper: str
    summary: str  # one line
    model: Values
    training: Values = field(default_factory=dict)
    decoding: Values = field(default_factory=dict)
    tokenizer: Values = field(default_factory=dict)
    start_from: str | None = None  # the system whose weights it begins with

    def sections(self) -> dict[str, Values]:
        """What goes over the shared configuration."""
        return {
            "model": self.model,
            "training": self.training,
            "decoding": self.decoding,
            "tokenizer": self.tokenizer,
        }


def _seq2seq(cell: str, paper: str, summary: str, **numbers: Any) -> Entry:
    model = {"architecture": "seq2seq", "cell": cell, **numbers}
    return Entry(f"Seq2seq, {cell.upper()}", paper, summary, model)


def _luong(score: str, summary: str) -> Entry:
    model = {"architecture": "luong", "score": score}
    return Entry(f"Luong attention, {score}", "Luong et al. 2015", summary, model)


_ONE_VECTOR = "all that the decoder knows of the source is one vector"
_GNMT_DECODING = {"coverage_penalty": 0.2}  # the β of Wu et al. 2016, section 7; α, there 0.2 too, stays the shared one

CATALOGUE: dict[str, Entry] = {
    "rnn": _seq2seq("rnn", "Sutskever et al. 2014", f"plain recurrence: {_ONE_VECTOR}, and gradients fade"),
    "lstm": _seq2seq("lstm", "Sutskever et al. 2014", f"LSTM layers that read the source backwards: {_ONE_VECTOR}"),
    "gru": _seq2seq(
        "gru",
        "Cho et al. 2014",
        "GRU layers, the source's vector shown to every step",
        reverse_source=False,
        feed_context=True,
    ),
    "bahdanau": Entry(
        "Additive attention",
        "Bahdanau et al. 2015",
        "the decoder looks at every encoder state before each step",
        {"architecture": "bahdanau"},
    ),
    "luong": _luong("general", "attention on top of the decoder, a matrix between the two states"),
    "luong-dot": _luong("dot", "attention on top of the decoder, the two states multiplied"),
    "luong-concat": _luong("concat", "attention on top of the decoder, a small network over the two states"),
    "deep-att": Entry(
        "Deep-Att",
        "Zhou et al. 2016",
        "deep LSTM stacks in alternating directions with fast-forward connections",
        {"architecture": "deep_att"},
    ),
    "deep-att-posunk": Entry(
        "Deep-Att + PosUnk",
        "Zhou et al. 2016",
        "the same over whole words; unknown ones are replaced through the attention (Luong et al. 2015)",
        {"architecture": "deep_att"},
        decoding={"replace_unknown": True},
        tokenizer={"kind": "word"},
    ),
    "gnmt": Entry(
        "GNMT",
        "Wu et al. 2016",
        "residual LSTM stack, attention from the bottom decoder layer, coverage penalty",
        {"architecture": "gnmt"},
        decoding=_GNMT_DECODING,
    ),
    "gnmt-rl": Entry(
        "GNMT + RL",
        "Wu et al. 2016",
        "gnmt, trained further for the GLEU of its own translations",
        {"architecture": "gnmt", "dropout": 0.0},  # what is drawn and what is learned come from one model
        training={"objective": "reinforced", "learning_rate": 1e-4},  # it refines what is learned already
        decoding=_GNMT_DECODING,
        start_from="gnmt",
    ),
    "bytenet": Entry(
        "ByteNet",
        "Kalchbrenner et al. 2016",
        "dilated convolutions, the target network on top of the source network",
        {"architecture": "bytenet"},
    ),
    "convs2s": Entry(
        "ConvS2S",
        "Gehring et al. 2017",
        "gated convolutions, learned positions, attention in every decoder layer",
        {"architecture": "convs2s"},
    ),
    "moe": Entry(
        "MoE",
        "Shazeer et al. 2017",
        "LSTM layers with a sparsely gated mixture of experts between them",
        {"architecture": "moe"},
    ),
    "transformer": Entry(
        "Transformer",
        "Vaswani et al. 2017",
        "attention only, of the size that [model] names",
        {"architecture": "transformer"},
    ),
    "transformer-base": Entry(
        "Transformer (base)",
        "Vaswani et al. 2017",
        "the paper's base model: 6 layers, d_model 512, 8 heads",
        {"architecture": "transformer", "preset": "base"},
    ),
    "transformer-big": Entry(
        "Transformer (big)",
        "Vaswani et al. 2017",
        "the paper's big model: 6 layers, d_model 1024, 16 heads",
        {"architecture": "transformer", "preset": "big"},
    ),
    "transformer-moe": Entry(
        "Transformer, MoE",
        "Vaswani et al. 2017; Shazeer et al. 2017",
        "four experts in place of each feed-forward network, two of them used by a token",
        {"architecture": "transformer", "experts": 4, "experts_used": 2},
    ),
}
