"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, H, W, out_h, out_w):
    return F.interpolate(input[None, None], (out_h, out_w), mode="bilinear", align_corners=False)
