"""Sources that share passages are found, however they were renamed and laid out."""

from __future__ import annotations

import random
import re

import pytest

from judge.compile.likeness import GRAM, MOST_OWNERS, WINDOW, find_pairs, fingerprints

KERNEL = """
#include <cuda_runtime.h>
// Sums each block by a tree.
__global__ void sum(const float* values, float* partial, int count) {
    __shared__ float scratch[256];
    float own = 0.0f;
    for (int at = blockIdx.x * 256 + threadIdx.x; at < count; at += gridDim.x * 256) own += values[at];
    scratch[threadIdx.x] = own;
    __syncthreads();
    for (int half_way = 128; half_way > 0; half_way /= 2) {
        if (threadIdx.x < half_way) scratch[threadIdx.x] += scratch[threadIdx.x + half_way];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(partial, scratch[0]);
}
"""
OTHER = """
__global__ void sum(const float* in, float* out, int n) {
    float v = 0;
    int stride = gridDim.x * blockDim.x;
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    while (i < n) { v = v + in[i]; i = i + stride; }
    for (int lane = 16; lane; lane >>= 1) v += __shfl_down_sync(0xffffffff, v, lane);
    if (!(threadIdx.x & 31)) atomicAdd(out, v);
}
"""


def disguised(text: str) -> str:
    """Returns the same code with other names, numbers, comments and layout."""
    names = {"values": "a", "partial": "b", "count": "c", "scratch": "tmp", "own": "mine", "at": "k", "half_way": "s"}
    text = re.sub(r"\b\w+\b", lambda match: names.get(match[0], match[0]), text)
    text = text.replace("256", "512").replace("128", "256").replace("// Sums each block by a tree.", "/* all my own */")
    return re.sub(r"[ \n]+(?=[^#\n]*\n)", "\n ", text).replace(";", " ;\n").replace("cuda_runtime.h", "cstdio")


def test_a_disguised_copy_is_found_and_another_way_is_not() -> None:
    [pair] = find_pairs({"ada": KERNEL, "bob": disguised(KERNEL), "cy": OTHER})
    assert (pair.left, pair.right, pair.share) == ("ada", "bob", 1.0)


def test_a_passage_within_other_code_is_found_and_its_share_is_of_the_shorter_source() -> None:
    mixed = OTHER + KERNEL.replace("sum(", "other_sum(") + OTHER.replace("+", "-")
    pairs = {(pair.left, pair.right): pair for pair in find_pairs({"ada": KERNEL, "bob": mixed, "cy": OTHER})}
    assert pairs.keys() == {("ada", "bob"), ("bob", "cy")}
    assert pairs["ada", "bob"].share > 0.9


def test_what_was_given_does_not_count() -> None:
    assert find_pairs({"ada": KERNEL, "bob": KERNEL}, given=[KERNEL]) == []
    [pair] = find_pairs({"ada": KERNEL + OTHER, "bob": KERNEL + OTHER.replace("-", "+")}, given=[KERNEL])
    assert pair.share == 1.0


def test_what_many_have_is_no_sign() -> None:
    sources = {f"user{number}": KERNEL for number in range(MOST_OWNERS)}
    assert len(find_pairs(sources)) == MOST_OWNERS * (MOST_OWNERS - 1) // 2
    assert find_pairs({**sources, "one more": KERNEL}) == []
    [pair] = find_pairs({**sources, "ada": KERNEL + OTHER, "bob": OTHER})
    assert {pair.left, pair.right} == {"ada", "bob"}


@pytest.mark.parametrize("seed", range(20))
def test_every_long_enough_run_is_found_and_no_shorter_one(seed: int) -> None:
    draw = random.Random(seed)
    # Each of these is a token of its own, and the two texts have none in common.
    left, right = "{}()[]<>;:,.?!~", "+-*/%&|^=@$"
    run = [draw.choice("+-*/" + left) for _ in range(GRAM + WINDOW - 1)]

    def around(own: str, middle: list[str]) -> str:
        return " ".join([*draw.choices(own, k=40), "#", *middle, "\\", *draw.choices(own, k=40)])

    assert fingerprints(around(left, run)) & fingerprints(around(right, run))
    assert not fingerprints(around(left[4:], run[: GRAM - 3])) & fingerprints(around(right[4:], run[: GRAM - 3]))


@pytest.mark.parametrize("text", ["", "solve", "// nothing\n#include <a>\n", "'", '"', "/*", "\x00\ud800", "é" * 50])
def test_odd_texts_have_fingerprints_or_none(text: str) -> None:
    assert find_pairs({"ada": text, "bob": text}) == []


def test_a_copy_in_a_macro_is_found() -> None:
    lines = [f"    total = total * left[{n}] + right[i] / {n}.0f - other(total); " for n in range(12)]
    plain = "__global__ void k() {\n" + "\n".join(lines) + "\n}\n"
    hidden = "#define ALL(a, b) __global__ void renamed() { \\\n" + " \\\n".join(lines) + " \\\n}\nALL(1, 2)\n"
    assert len(fingerprints(plain) & fingerprints(hidden)) >= 0.8 * len(fingerprints(plain)) > 0
    assert fingerprints("#include <a>\n#if 1\n" + plain + "#endif\n") == fingerprints(plain)
