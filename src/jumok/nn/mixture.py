"""A mixture of experts, of which each token sees only a few.

Paper: Shazeer et al. 2017, "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer".
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.nn.feed_forward import Activation, FeedForward

_LEAST_NOISE = 0.01


class Routing(NamedTuple):
    """Which experts N tokens are sent to, and how evenly that treats the E experts."""

    experts: Tensor  # (N, k)
    gates: Tensor  # (N, k), each row sums to 1
    importance: Tensor  # (E,): the sum of each expert's gates
    load: Tensor | None  # (E,): how many tokens each expert can expect; None where no noise leaves it to chance


class MixtureOfExperts(nn.Module):
    """y = Σ_i G(x)_i · E_i(x) over the k experts with the highest gates, at every position by itself.

    G(x) = softmax(KeepTopK(H(x), k)),  H(x) = x·W_g + StandardNormal · softplus(x·W_noise)

    The gates start at zero, so that at first only the noise decides and every expert gets equally many tokens. There is
    noise in training alone: in prediction a token's experts depend on nothing but its own vector.

    Paper: Shazeer et al. 2017, section 2, equation 1; section 2.1, equations 3 to 5; appendix A (the gates' start).
    Differs: the noise has a standard deviation of at least 0.01, because the load divides by it. The paper does not
    say that prediction has none.
    """

    def __init__(
        self,
        d_model: int,
        d_expert: int,
        num_experts: int,
        num_used: int,
        importance_weight: float,
        load_weight: float,
        dropout: float = 0.0,
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        assert 1 <= num_used <= num_experts, "no more experts can be used than there are"
        self.d_expert = d_expert
        self.num_used = num_used
        self.importance_weight = importance_weight
        self.load_weight = load_weight
        self.gate = nn.Parameter(torch.zeros(num_experts, d_model))  # W_g
        self.noise = nn.Parameter(torch.zeros(num_experts, d_model))  # W_noise
        self.experts = nn.ModuleList(FeedForward(d_model, d_expert, dropout, activation) for _ in range(num_experts))

    def forward(self, x: Tensor, is_word: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The mixture of (B, T, D), 0 where `is_word` (B, T) is False, and the penalty for uneven use, 0 in prediction.

        Padding is sent to no expert and counts for none.
        """
        if is_word is None:
            y, penalty = self._mix(x.flatten(0, -2))
            return y.view_as(x), penalty
        is_token = is_word.flatten().nonzero()[:, 0]
        flat = x.flatten(0, -2)
        y, penalty = self._mix(flat.index_select(0, is_token))
        return torch.zeros_like(flat, dtype=y.dtype).index_copy(0, is_token, y).view_as(x), penalty

    def route(self, tokens: Tensor) -> Routing:
        """Choose the experts of tokens (N, D)."""
        clean = F.linear(tokens, self.gate).float()  # (N, D) -> (N, E)
        k, num_experts = self.num_used, len(self.experts)
        spread = None
        scores = clean
        if self.training:
            spread = F.softplus(F.linear(tokens, self.noise).float()) + _LEAST_NOISE
            scores = clean + torch.randn_like(clean) * spread
        best, experts = scores.topk(min(k + 1, num_experts), dim=-1)
        gates = best[:, :k].softmax(dim=-1)
        chosen = experts[:, :k]
        importance = gates.new_zeros(num_experts).index_add(0, chosen.flatten(), gates.flatten())
        load = None if spread is None or k == num_experts else expected_load(clean, spread, scores, best)
        return Routing(chosen, gates, importance, load)

    def multiply_adds(self, num_tokens: int) -> int:
        """Of so many words; padding costs nothing."""
        gating = self.gate.numel() * (2 if self.training else 1)
        return num_tokens * (gating + self.num_used * 2 * self.gate.size(1) * self.d_expert)

    def _mix(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens are sorted by expert, so that each expert multiplies once, whatever number it got.

        While gradients are wanted an expert without tokens multiplies no rows, and so has a gradient too, of zero:
        processes that join their gradients need one of every parameter.
        """
        routing = self.route(tokens)
        expert_of_slot = routing.experts.flatten()  # (N, k) -> (N·k,)
        by_expert = expert_of_slot.argsort(stable=True)
        token_of_slot = by_expert // self.num_used
        sizes = expert_of_slot.bincount(minlength=len(self.experts)).tolist()
        parts = torch.split(tokens.index_select(0, token_of_slot), sizes)
        is_learning = torch.is_grad_enabled()
        outputs = [expert(part) for expert, part in zip(self.experts, parts, strict=True) if len(part) or is_learning]
        weighted = torch.cat(outputs) * routing.gates.flatten()[by_expert, None]
        y = weighted.new_zeros(tokens.shape).index_add(0, token_of_slot, weighted)
        return y, self._penalty(routing) if self.training else weighted.new_zeros(())

    def _penalty(self, routing: Routing) -> Tensor:
        """w_importance · CV(importance)² + w_load · CV(load)².

        Paper: Shazeer et al. 2017, section 4, equations 6 and 7; appendix A, equation 11.
        """
        penalty = self.importance_weight * squared_variation(routing.importance)
        if routing.load is not None:
            penalty = penalty + self.load_weight * squared_variation(routing.load)
        return penalty


def expected_load(clean: Tensor, spread: Tensor, scores: Tensor, best: Tensor) -> Tensor:
    """How many of N tokens each expert would get if its own noise alone were drawn again: (N, E) -> (E,).

    The number that it did get has no gradient. The chance of being chosen does: it is that of passing the k-th best of
    the *other* scores, which is the (k+1)-th best of all for an expert that is among the best k, and the k-th for one
    that is not. `clean` are the scores without noise, `spread` is its standard deviation, `best` are the k+1 best.

    Paper: Shazeer et al. 2017, appendix A, equations 8 to 10.
    """
    last_in, first_out = best[:, -2, None], best[:, -1, None]
    to_pass = torch.where(scores > first_out, first_out, last_in)
    is_chosen: Tensor = torch.special.ndtr((clean - to_pass) / spread)  # Φ, the normal distribution's CDF
    return is_chosen.sum(dim=0)


def squared_variation(amounts: Tensor) -> Tensor:
    """The squared coefficient of variation: variance over squared mean, 0 where all are equal.

    Paper: Shazeer et al. 2017, section 4, equation 7.
    """
    return amounts.var(correction=0) / (amounts.mean().square() + 1e-10)
