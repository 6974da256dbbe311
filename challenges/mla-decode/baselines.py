"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def sdpa(q_latent, q_rope, kv_latent, k_rope, output, batch, num_heads, seq_len, latent_dim, rope_dim, scale):
    latents = kv_latent.view(batch, 1, seq_len, latent_dim)
    keys = torch.cat((latents, k_rope.view(batch, 1, seq_len, rope_dim)), dim=-1)
    queries = torch.cat((q_latent, q_rope), dim=-1).view(batch, 1, num_heads, latent_dim + rope_dim)
    return F.scaled_dot_product_attention(queries, keys, latents, scale=scale)
