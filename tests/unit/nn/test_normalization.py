from __future__ import annotations

import torch
from torch import nn

from jumok.nn.normalization import BatchNorm, LayerNorm


def test_two_numbers_by_hand():
    # mean 3, variance 1: (2, 4) -> (-1, 1), then gain 2 and bias 10.
    norm = LayerNorm(2, eps=0.0)
    with torch.no_grad():
        norm.gain.fill_(2.0)
        norm.bias.fill_(10.0)
    torch.testing.assert_close(norm(torch.tensor([[2.0, 4.0]])), torch.tensor([[8.0, 12.0]]))


def test_layer_norm_is_torchs_in_value_and_gradient():
    torch.manual_seed(0)
    ours, theirs = LayerNorm(16), nn.LayerNorm(16)
    with torch.no_grad():
        ours.gain.normal_()
        ours.bias.normal_()
        theirs.weight.copy_(ours.gain)
        theirs.bias.copy_(ours.bias)
    x = torch.randn(2, 3, 16, requires_grad=True)
    torch.testing.assert_close(ours(x), theirs(x))
    (a,) = torch.autograd.grad(ours(x).square().sum(), x)
    (b,) = torch.autograd.grad(theirs(x).square().sum(), x)
    torch.testing.assert_close(a, b)


# --- batch normalisation ------------------------------------------------------------------------------------------


def test_batch_norm_is_torchs_over_all_positions_in_training_and_prediction():
    torch.manual_seed(0)
    ours, theirs = BatchNorm(8), nn.BatchNorm1d(8)
    with torch.no_grad():
        theirs.weight.copy_(ours.gain.normal_())
        theirs.bias.copy_(ours.bias.normal_())
    for _ in range(3):
        x = torch.randn(4, 50, 8) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x.flatten(0, 1)).view_as(x), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_variance, theirs.running_var, rtol=0.01, atol=0)  # theirs over n − 1
    ours.eval()
    before = ours.running_mean.clone()
    expected = (x - before) / (ours.running_variance + 1e-5).sqrt() * ours.gain + ours.bias
    torch.testing.assert_close(ours(x), expected)
    assert torch.equal(ours.running_mean, before)


def test_batch_norm_makes_a_sentence_depend_on_its_company_and_layer_norm_does_not():
    torch.manual_seed(0)
    sentence, calm, wild = torch.randn(1, 5, 8), torch.randn(3, 5, 8), 10 * torch.randn(3, 5, 8)
    companies = [torch.cat((sentence, other)) for other in (calm, wild)]
    of_layer, of_batch = ([norm(batch)[0] for batch in companies] for norm in (LayerNorm(8), BatchNorm(8)))
    assert torch.equal(*of_layer)
    assert (of_batch[0] - of_batch[1]).abs().max() > 0.5


def test_batch_norm_of_mixed_lengths_counts_padding_so_that_the_longest_sentence_decides():
    torch.manual_seed(0)
    words = torch.randn(1, 3, 8)
    alone, padded = (BatchNorm(8)(torch.cat((words, torch.zeros(1, n, 8)), dim=1))[0, :3] for n in (0, 27))
    assert padded.abs().mean() > 2 * alone.abs().mean()  # mostly padding: the variance shrinks, the words stand out


def test_batch_norm_lets_a_later_word_change_an_earlier_one_in_training():
    torch.manual_seed(0)
    norm, x = BatchNorm(8), torch.randn(1, 4, 8)
    changed = torch.cat((x[:, :3], 5 * x[:, 3:]), dim=1)
    assert not torch.allclose(norm(x)[0, :3], norm(changed)[0, :3], atol=0.1)
    norm.eval()
    assert torch.equal(norm(x)[0, :3], norm(changed)[0, :3])


def test_batch_norm_of_a_single_token_forgets_it_in_training():
    norm = BatchNorm(4)
    with torch.no_grad():
        norm.bias.normal_()
    for x in (torch.randn(1, 1, 4), 100 * torch.randn(1, 1, 4)):
        torch.testing.assert_close(norm(x)[0, 0], norm.bias)
    norm.eval()
    assert not torch.allclose(norm(x)[0, 0], norm.bias)


def test_batch_norm_of_one_short_sentence_is_far_from_what_prediction_will_do():
    """Trained on large batches or one sentence at a time: how far the two modes are apart."""

    def difference(num_sentences: int) -> float:
        torch.manual_seed(0)
        norm = BatchNorm(32)
        for _ in range(60):
            norm(torch.randn(num_sentences, 4, 32))
        x = torch.randn(num_sentences, 4, 32)
        return (norm(x) - norm.eval()(x)).abs().mean().item()

    assert difference(1) > 5 * difference(64)
