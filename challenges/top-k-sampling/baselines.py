"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(logits, uniforms, tokens, batch, vocab_size, k, temperature):
    largest, tokens_of = logits.topk(k, dim=1)
    shares = (largest / temperature).softmax(dim=1).cumsum(dim=1)
    drawn = (shares <= uniforms[:, None]).sum(dim=1, keepdim=True).clamp(max=k - 1)
    return tokens_of.gather(1, drawn).int()
