"""The page that stands beside an exported model: what it is, how good, how to use it."""

from __future__ import annotations

import json
from typing import Any

from jumok import __version__
from jumok.architectures import TransformerConfig
from jumok.config import Config
from jumok.text.languages import language

_TEMPLATE = """\
---
language:
{tags}
tags:
- translation
- jumok
pipeline_tag: translation
library_name: transformers
---

# {name}

Translates from {source} to {target}. A Transformer, trained and exported with Jumok {version}.

## How to use it

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("PATH")
model = AutoModelForSeq2SeqLM.from_pretrained("PATH")
batch = tokenizer(["…"], return_tensors="pt", padding=True)
print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))
```

Text is expected in Unicode's composed form (NFC). {version_remark}

## The model

| | |
| --- | --- |
{numbers}

## How good it is

{scores}

## The same translations?

The weights are the same numbers in another order, and greedy search says the same as Jumok. Beam search ranks a little
differently: Jumok divides the log-probability of n pieces by ((5 + n) / 6)^α, transformers by n^p. `length_penalty` is
set to the p that comes nearest to α = {alpha:g}, so that nearly all translations are equal, not every one.
"""


def model_card(config: Config, result: dict[str, Any] | None, num_parameters: int, architecture: str) -> str:
    """The page in Markdown, with the header that the Hugging Face hub reads."""
    model, data = config.model, config.data
    assert isinstance(model, TransformerConfig)
    source, target = language(data.source).name, language(data.target).name
    needs_five = not config.tokenizer.joint or (model.norm == "pre" and model.tie_embeddings != "three-way")
    numbers = {
        "class in transformers": f"`{architecture}`",
        "parameters": f"{num_parameters:,}",
        "layers": f"{model.encoder_layers} encoder, {model.decoder_layers} decoder, {model.norm}-norm",
        "d_model, d_ff, heads": f"{model.d_model}, {model.d_ff}, {model.num_heads}",
        "activation": model.activation,
        "positions": model.position,
        "embeddings tied": model.tie_embeddings,
        **_training_numbers(result or {}),
    }
    return _TEMPLATE.format(
        tags="\n".join(f"- {json.dumps(code)}" for code in dict.fromkeys((data.source, data.target))),
        name=config.name,
        source=source,
        target=target,
        version=__version__,
        version_remark="Needs transformers 5 or later." if needs_five else "",
        numbers="\n".join(f"| {key} | {value} |" for key, value in numbers.items()),
        scores=_scores(result or {}),
        alpha=config.decoding.length_penalty,
    )


def _training_numbers(result: dict[str, Any]) -> dict[str, str]:
    names = {"steps": "training steps", "train_tokens": "target pieces trained on", "train_flops": "training FLOPs"}
    return {
        label: f"{result[key]:,.4g}" if key == "train_flops" else f"{result[key]:,}"
        for key, label in names.items()
        if result.get(key) is not None
    }


def _scores(result: dict[str, Any]) -> str:
    if "bleu" not in result:
        return "Not scored."
    lines = [f"- BLEU {result['bleu']:.1f}"]
    if "signature" in result:
        lines[0] += f" (`{result['signature']}`)"
    if "chrf" in result:
        lines.append(f"- chrF {result['chrf']:.1f}")
    search = f", beam {result['beam']}" if "beam" in result else ""
    return "\n".join(lines) + f"\n\nOn the {result.get('scored_on', 'test')} set of its training corpus{search}."
