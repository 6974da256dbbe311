"""The search for challenges: which comes first, for what people type."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from tests.builds import ROOT
from web.challenges.search import search

#: What is typed | the challenge that must come first.
TABLE = """
matrix multiplication                   | matmul
matmul                                  | matmul
matrix product                          | matmul
sgemm                                   | matmul
gemm                                    | gemm
hgemm                                   | gemm
grayscale                               | rgb-to-gray
greyscale                               | rgb-to-gray
rgb to grey                             | rgb-to-gray
fp16                                    | gemm
fp16 dot product                        | half-dot
quantization                            | int8-matmul
quantisation                            | int8-matmul
layernorm                               | layer-norm
layer norm                              | layer-norm
layer normalisation                     | layer-norm
rmsnorm                                 | rms-norm
batchnorm                               | batch-norm
groupnorm                               | group-norm
reduce                                  | reduction
reduction                               | reduction
sum                                     | reduction
cumsum                                  | prefix-sum
scan                                    | prefix-sum
prefix sum                              | prefix-sum
inclusive scan                          | prefix-sum
segmented scan                          | segmented-scan
segmented prefix sum                    | segmented-scan
sha256                                  | sha-256
sha-256                                 | sha-256
flash attention                         | attention
flashattention                          | attention
sdpa                                    | attention
leetgpu 22                              | gemm
LeetGPU #1                              | vector-add
leetgpu 2                               | matmul
vector add                              | vector-add
vectoradd                               | vector-add
argmax                                  | argmax
torch.argmax                            | argmax
im2col                                  | im2col
unfold                                  | im2col
moe                                     | moe-grouped-gemm
grouped gemm                            | moe-grouped-gemm
moe gating                              | moe-gate
top-p sampling                          | nucleus-sample
nucleus sampling                        | nucleus-sample
top k sampling                          | top-k-sampling
topk                                    | top-k
conjugate gradient                      | conjugate-gradient
stream compaction                       | compact-positive
DeviceSelect::If                        | compact-positive
copy_if                                 | compact-positive
color inversion                         | invert-colors
invert colours                          | invert-colors
gaussian blur                           | image-blur
nearest neighbour                       | nearest-neighbour
nearest neighbor                        | nearest-neighbour
knn                                     | nearest-neighbour
bfs                                     | grid-bfs
floyd warshall                          | all-pairs-paths
kmeans                                  | kmeans-2d
k-means                                 | kmeans-2d
rope                                    | rope
gqa                                     | grouped-query-attention
mqa                                     | mqa
mha                                     | multi-head-attention
multihead attention                     | multi-head-attention
mla                                     | mla-decode
paged attention                         | paged-attention
vllm                                    | paged-attention
mamba                                   | selective-scan
causal conv1d                           | causal-depthwise-conv
lora                                    | lora-linear
black scholes                           | black-scholes
fft                                     | fft-1d
2d fft                                  | fft-2d
sort                                    | sort-floats
radix sort                              | radix-sort
histogram                               | histogram
histgram                                | histogram
softmx                                  | softmax
transpoze                               | transpose
convolution                             | conv1d
conv2d                                  | conv2d
2d convolution                          | conv2d
max pool                                | max-pool2d
cross entropy                           | cross-entropy
mse loss                                | mse
bmm                                     | batched-matmul
int8                                    | int8-matmul
int4                                    | int4-matmul
gguf                                    | q8-0-gemm
csr                                     | spmv-csr
spmv                                    | sparse-matvec
structured sparsity                     | sparse-24-gemm
gemv                                    | matvec
boids                                   | flocking-step
monte carlo pi                          | monte-carlo-pi
swish                                   | silu
torus                                   | game-of-life
reverse array                           | reverse-in-place
rainbow table                           | iterated-hash
the vector addition                     | vector-add
varlen                                  | flash-attention-varlen
half precision matrix multiplication    | gemm
"""
ROWS = [tuple(part.strip() for part in line.split("|")) for line in TABLE.strip().splitlines()]
SLUGS = sorted(path.parent.name for path in ROOT.glob("challenges/*/challenge.toml"))


@pytest.fixture(scope="module")
def packs() -> Mapping[str, Pack]:
    return {slug: load_pack(ROOT / "challenges" / slug) for slug in SLUGS}


def first(words: str, packs: Mapping[str, Pack]) -> str | None:
    return next(iter(search(words, packs)), None)


@pytest.mark.parametrize(("words", "slug"), ROWS)
def test_what_must_come_first(words: str, slug: str, packs: Mapping[str, Pack]) -> None:
    assert first(words, packs) == slug


@pytest.mark.exhaustive
@pytest.mark.parametrize("slug", SLUGS)
def test_every_challenge_is_first_for_its_own_title_and_slug(slug: str, packs: Mapping[str, Pack]) -> None:
    assert first(packs[slug].title, packs) == slug
    assert first(slug, packs) == slug


@pytest.mark.exhaustive
@pytest.mark.parametrize("slug", SLUGS)
def test_every_alias_finds_its_challenge_among_the_first(slug: str, packs: Mapping[str, Pack]) -> None:
    for alias in packs[slug].aliases:
        assert slug in list(search(alias, packs))[:6], f"{alias!r} of {slug}"


def test_no_two_challenges_have_the_same_title(packs: Mapping[str, Pack]) -> None:
    assert len({pack.title.casefold() for pack in packs.values()}) == len(packs)


def test_words_of_a_statement_are_found_after_names(packs: Mapping[str, Pack]) -> None:
    found = list(search("transpose", packs))
    assert found[0] == "transpose"
    assert "game-of-life" in search("torus", packs)


def test_all_words_must_be_found(packs: Mapping[str, Pack]) -> None:
    assert search("softmax zyzzyva", packs) == {}


@pytest.mark.parametrize("words", ["", "   ", "?!", "\x00", "the"])
def test_what_says_nothing_raises_nothing(words: str, packs: Mapping[str, Pack]) -> None:
    search(words, packs)


def test_a_very_long_search_costs_no_more_than_its_beginning(packs: Mapping[str, Pack]) -> None:
    for words in ("x" * 10_000, "ab " * 5_000, "softmax " + " " * 9_000 + "zyzzyva"):
        search(words, packs)
    assert first("softmax " + " " * 9_000 + "zyzzyva", packs) == "softmax"
