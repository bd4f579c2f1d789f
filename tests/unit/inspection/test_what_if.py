"""Each experiment changes what it says and nothing else, and leaves the model as it was."""

from __future__ import annotations

import pytest
import torch

from jumok.errors import UsageError
from jumok.inspection.subject import Subject
from jumok.inspection.what_if import attention_of, change_word, gradient_by_layer, silence_head, variant

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."


@pytest.fixture
def subject(model, tokenizer, run):
    return Subject(model, tokenizer, tokenizer, run.config())


@pytest.fixture
def pair(subject):
    return subject.pair(SOURCE, TARGET)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_silent_head_is_a_head_whose_context_is_zero(subject, pair, kind):
    weights = {name: value.clone() for name, value in subject.model.state_dict().items()}
    found = silence_head(subject, pair, kind, 1, 2)
    assert all(torch.equal(value, weights[name]) for name, value in subject.model.state_dict().items())

    attention = attention_of(subject.transformer, kind, 1, 2)
    d_k = attention.width // attention.num_heads

    def cut(_, arguments):
        context = arguments[0].clone()
        context[..., 2 * d_k : 3 * d_k] = 0
        return (context,)

    handle = attention.project_out.register_forward_pre_hook(cut)
    expected = subject.log_probs(pair).gather(1, pair.batch.tgt_out[0][:, None])[:, 0].tolist()
    handle.remove()
    assert found.after == pytest.approx(expected, abs=1e-5)
    assert found.before != pytest.approx(found.after, abs=1e-6)
    assert found.translation_before == subject.text(subject.search(pair.src_ids)[0].ids)


def test_layers_and_heads_that_are_not_there(subject, pair):
    with pytest.raises(UsageError, match="layer 4: this model's encoder has 3"):
        silence_head(subject, pair, "encoder", 3, 0)
    with pytest.raises(UsageError, match="layer 3: this model's decoder has 2"):
        silence_head(subject, pair, "cross", 2, 0)
    with pytest.raises(UsageError, match="head 5: this model has 4"):
        silence_head(subject, pair, "decoder", 0, 4)


def test_a_variant_with_no_change_is_the_model(subject, pair):
    with torch.inference_mode():
        other = variant(subject)
        assert torch.equal(other(pair.batch.src, pair.batch.tgt_in), subject.model(pair.batch.src, pair.batch.tgt_in))


def test_a_later_word_moves_nothing_earlier_under_the_causal_mask(subject, pair):
    piece = subject.tgt_tokenizer.encode(["school"])[0][0]
    moved = change_word(subject, pair, 3, piece)
    assert all(one.change == 0 and one.before == one.after for one in moved[:3])
    assert moved[3].change > 0


@pytest.mark.parametrize("rules", [{"is_causal": False}, {"masking": "zero_before"}])
def test_it_does_where_the_mask_does_not_hide_it(subject, pair, rules):
    piece = subject.tgt_tokenizer.encode(["school"])[0][0]
    moved = change_word(subject, pair, 3, piece, **rules)
    assert all(one.change > 0 for one in moved[:3])


def test_a_position_that_is_no_word(subject, pair):
    last = len(pair.tgt_ids)
    for position in (0, last + 1):
        with pytest.raises(UsageError, match=f"position {position} of the translation: its words stand at 1 to {last}"):
            change_word(subject, pair, position, 5)
    with pytest.raises(UsageError, match="it has no word to change"):
        change_word(subject, subject.pair(SOURCE, ""), 1, 5)


def test_gradients_are_those_of_the_loss_at_each_layers_input(subject, pair):
    found = gradient_by_layer(subject, pair)
    assert len(found) == 5 and all(value > 0 for value in found)
    # By finite difference: a small step along the gradient at the first layer's input raises the loss by its norm.
    model, step = subject.transformer, 1e-3
    inputs = []
    handle = model.encoder.layers[0].register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    model(pair.batch.src, pair.batch.tgt_in)
    handle.remove()

    def loss(x):
        handle = model.encoder.layers[0].register_forward_pre_hook(lambda _, given: (x, *given[1:]))
        hidden = model(pair.batch.src, pair.batch.tgt_in)
        handle.remove()
        return torch.nn.functional.cross_entropy(model.project(hidden)[0], pair.batch.tgt_out[0])

    x = inputs[0].detach().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(x), x)
    direction = gradient / gradient.norm()
    with torch.no_grad():
        slope = float(loss(x + step * direction) - loss(x - step * direction)) / (2 * step)
    assert found[0] == pytest.approx(slope, rel=0.02)
    assert all(parameter.grad is None for parameter in subject.model.parameters())


def test_without_residuals_the_gradient_of_the_first_layer_is_smaller(tiny_transformer, tokenizer, run):
    deep = tiny_transformer(tokenizer.vocab_size, encoder_layers=6, decoder_layers=6, norm="pre")
    subject = Subject(deep, tokenizer, tokenizer, run.config())
    pair = subject.pair(SOURCE, TARGET)
    assert gradient_by_layer(subject, pair, use_residual=False)[0] < gradient_by_layer(subject, pair)[0] / 10
