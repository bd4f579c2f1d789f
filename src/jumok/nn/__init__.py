"""The paper's parts, one file each; `models/` assembles them.

The letters in shape comments, everywhere in the project:

    B batch    S source    T target    Q queries    M memory (keys)    D model (d_model)
    H heads    K per head (d_k = D / H)    F feed-forward (d_ff)    V vocabulary    N beam
"""
