"""The residual connection around every sub-layer.

Paper: Vaswani et al. 2017, section 3.1 and section 5.4.
"""

from __future__ import annotations

from torch import Tensor, nn

from jumok.nn.dropout import Dropout
from jumok.nn.normalization import LayerNorm, Norm


class Residual(nn.Module):
    """Carries x past a sub-layer: `y = sublayer(residual.enter(x)); x = residual.leave(x, y)`.

    post-norm (the paper):  x ← LayerNorm(x + Dropout(Sublayer(x)))
    pre-norm:               x ← x + Dropout(Sublayer(LayerNorm(x)))

    Paper: Vaswani et al. 2017, section 3.1 (post-norm).
    Differs: pre-norm by choice, because small and deep models train without a long warm-up with it; a stack
    of pre-norm layers ends with one more LayerNorm, since the last sum would otherwise leave unnormalised.
    Without the connection, `use_residual` = False, "x +" is missing in both lines: to see what it is good for.
    """

    def __init__(
        self,
        d_model: int,
        dropout: float,
        is_pre_norm: bool,
        use_residual: bool = True,
        norm: type[Norm] = LayerNorm,
    ) -> None:
        super().__init__()
        self.norm = norm(d_model)
        self.dropout = Dropout(dropout)
        self.is_pre_norm = is_pre_norm
        self.use_residual = use_residual

    def enter(self, x: Tensor) -> Tensor:
        """What the sub-layer reads."""
        return self.norm(x) if self.is_pre_norm else x

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """Join what went around the sub-layer with what came out of it."""
        x = self.dropout.add(y, x) if self.use_residual else self.dropout(y)
        return x if self.is_pre_norm else self.norm(x)
