"""What the paper published: its Table 2 (BLEU against training cost) and its Table 1 (layers compared).

Paper: Vaswani et al. 2017, section 6.1, Table 2; section 4, Table 1.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Vaswani et al. 2017, Table 2"
LABEL = "as published: WMT14, newstest2014"
WARNING = (
    "The paper's rows are WMT14 newstest2014 figures of Vaswani et al. 2017, Table 2: other data, other vocabulary, "
    "another way to count BLEU, cost by time. They show the order and the distances, and are not comparable with "
    "figures on other data."
)


@dataclass(frozen=True)
class PublishedRow:
    """One row of Table 2; None where the paper has no figure."""

    title: str
    bleu_en_de: float | None
    bleu_en_fr: float | None
    flops_en_de: float | None
    flops_en_fr: float | None


PUBLISHED = (
    PublishedRow("ByteNet", 23.75, None, None, None),
    PublishedRow("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    PublishedRow("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    PublishedRow("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    PublishedRow("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    PublishedRow("Deep-Att + PosUnk Ensemble", None, 40.4, None, 8.0e20),
    PublishedRow("GNMT + RL Ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    PublishedRow("ConvS2S Ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    # The paper prints one cost for both languages of each of its own models. Of the big one's English-French BLEU its
    # Table 2 and abstract say 41.8, the text of section 6.1 says 41.0.
    PublishedRow("Transformer (base)", 27.3, 38.1, 3.3e18, 3.3e18),
    PublishedRow("Transformer (big)", 28.4, 41.8, 2.3e19, 2.3e19),
)


@dataclass(frozen=True)
class LayerFormulas:
    """One row of Table 1: n positions, width d, kernel k, neighbourhood r."""

    complexity: str  # of one layer
    sequential: str  # operations that have to wait for each other
    path: str  # the longest way between two positions


SELF_ATTENTION = LayerFormulas("O(n²·d)", "O(1)", "O(1)")
RECURRENT = LayerFormulas("O(n·d²)", "O(n)", "O(n)")
# The paper's row is the dilated one; its text gives the path of a stack with contiguous kernels as O(n/k).
CONVOLUTIONAL = LayerFormulas("O(k·n·d²)", "O(1)", "O(n/k)")
DILATED = LayerFormulas("O(k·n·d²)", "O(1)", "O(log_k(n))")
RESTRICTED = LayerFormulas("O(r·n·d)", "O(1)", "O(n/r)")
