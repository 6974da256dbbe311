"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def flash(Q, K, V, offsets, output, total, sequences, heads, head_dim, causal):
    q, k, v = (array.view(total, heads, head_dim) for array in (Q, K, V))
    longest = int(offsets.diff().max())
    return torch.ops.aten._flash_attention_forward(
        q, k, v, offsets, offsets, longest, longest, 0.0, bool(causal), False
    )[0]
