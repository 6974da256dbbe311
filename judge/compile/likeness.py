"""Finds sources that share passages, by winnowing over tokens.

Comments, blanks, preprocessor lines but for what macros stand for, literals and the names that an author chose do not
count, so a copy that was
renamed and laid out anew is still found. Every run of ``GRAM + WINDOW - 1`` equal tokens is found, and none of fewer
than ``GRAM`` is. Time and memory are linear in the sources' length, whatever their text.

Source: Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting" (SIGMOD 2003).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from judge.compile.source import strip_directives, strip_noise
from judge.compile.source_files import join_continued
from records import dataclass

GRAM, WINDOW = 12, 8
#: A passage that more sources have is no sign: everybody computes a thread's index. It also bounds the work.
MOST_OWNERS = 10
#: Pairs that share fewer fingerprints are left out.
LEAST_SHARED = 4

#: What makes a macro, up to what it stands for. A copy may be hidden in one.
_DEFINE = re.compile(r"^[ \t]*+#[ \t]*+define[ \t]++\w++(?:\([^()\n]*+\))?+", re.MULTILINE)
_TOKEN = re.compile(r"(?P<name>[A-Za-z_]\w*+)|(?P<number>\d(?:[\w.']++)?+)|\S")
#: The names that are not the author's to choose.
_FIXED_TEXT = (
    "if else for while do switch case default break continue return goto struct class union enum template typename "
    "using namespace const constexpr static inline extern void bool char short int long signed unsigned float double "
    "auto sizeof static_cast reinterpret_cast half __half __half2 __nv_bfloat16 float2 float4 int2 int4 size_t dim3 "
    "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads __syncwarp "
    "__shfl_sync __shfl_down_sync __shfl_up_sync __shfl_xor_sync __ldg atomicAdd atomicMax atomicMin atomicCAS "
    "threadIdx blockIdx blockDim gridDim warpSize x y z min max fmaf fmaxf fminf expf exp sqrtf rsqrtf tanhf powf "
    "cudaMalloc cudaFree cudaMemcpy cudaMemcpyAsync cudaMemset cudaMemsetAsync cudaDeviceSynchronize asm"
)
_FIXED = frozenset(_FIXED_TEXT.split())


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sources that share passages. ``share`` is of the fingerprints of the one that has fewer, from 0 to 1."""

    left: str
    right: str
    share: float
    shared: int


def fingerprints(text: str) -> frozenset[int]:
    """Returns the fingerprints of a source; none for one of fewer than ``GRAM`` tokens."""
    code = strip_directives(_DEFINE.sub(" ", strip_noise(join_continued(text))))
    tokens = np.fromiter((_code(match) for match in _TOKEN.finditer(code)), dtype=np.uint64)
    if len(tokens) < GRAM:
        return frozenset()
    hashes = np.zeros(len(tokens) - GRAM + 1, np.uint64)
    for at in range(GRAM):
        hashes = _mixed(hashes ^ tokens[at : at + len(hashes)])
    if len(hashes) <= WINDOW:
        return frozenset([int(hashes.min())])
    windows = np.lib.stride_tricks.sliding_window_view(hashes, WINDOW)
    return frozenset(np.unique(windows.min(axis=1)).tolist())


def find_pairs(sources: Mapping[str, str], *, given: Collection[str] = ()) -> list[Pair]:
    """Returns the pairs of sources that share passages, the most alike first.

    Passages of ``given``, such as the starter, do not count, nor do those of more than ``MOST_OWNERS`` sources.
    """
    known = frozenset[int]().union(*(fingerprints(text) for text in given))
    own = {name: fingerprints(text) - known for name, text in sources.items()}
    owners = defaultdict[int, list[str]](list)
    for name in sorted(own):
        for one in own[name]:
            owners[one].append(name)
    shared, common = Counter[tuple[str, str]](), Counter[str]()
    for names in owners.values():
        if len(names) <= MOST_OWNERS:
            shared.update(combinations(names, 2))
        else:
            common.update(names)
    pairs = [
        Pair(left, right, count / min(len(own[one]) - common[one] for one in (left, right)), count)
        for (left, right), count in shared.items()
        if count >= LEAST_SHARED
    ]
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.shared, pair.left, pair.right))


def _code(match: re.Match[str]) -> int:
    """Returns the number of a token: the same for all names that an author chose, and for all numbers."""
    if match["name"] is not None:
        return crc32(match[0].encode()) if match[0] in _FIXED else 1
    return 2 if match["number"] is not None else crc32(match[0].encode("utf-8", "surrogatepass"))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns each value mixed into all 64 bits (the finaliser of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
