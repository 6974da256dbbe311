"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(logits, topk_weights, topk_indices, M, E, k):
    values, indices = logits.topk(k, dim=1)
    return {"topk_weights": values.softmax(dim=1), "topk_indices": indices.int()}
