"""A small pack, and plain C++ submissions for the host device."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack

DEVICE = DeviceInfo("host", "cuda", "host memory", "0.0")

_TOML = """
schema = 2
title = "Twice"
version = "1.0.0"
difficulty = "easy"
signature = "void solve(const float* input, float* output, int N)"
sample_sizes = { small = [5] }
sizes = { one = [1], prime = [1009], large = [200000] }
limits = { wall_s = 2.0, memory_mib = 64 }

[axes]
N = { max = 1000000 }

[arrays.input]
shape = ["N"]
data = { kind = "uniform", low = -1.0, high = 1.0 }

[arrays.output]
shape = ["N"]

[tolerance]
output = { kind = "exact" }

[bench]
bytes = "8*N"
flops = "N"

[[benchmarks]]
id = "timed"
axes = { N = 500000 }
devices = ["cuda", "emulator"]
"""

_REFERENCE = '''
"""Twice the input."""

import numpy as np


def reference(input, N):
    return np.float64(2.0) * input
'''

#: A right one; hostile ones are made from it.
HONEST = 'extern "C" void solve(const float* in, float* out, int n) { for (int i = 0; i < n; i++) out[i] = 2 * in[i]; }'

#: One that does nothing, for a few microseconds: what reads less is not believed.
EMPTY = 'extern "C" void solve(const float*, float*, int) { for (volatile int i = 0; i < 5000; i++) {} }'


@cache
def twice_pack() -> Pack:
    """One input, one output, exact; 4 cases and a benchmark."""
    return pack_like_twice()


def pack_like_twice(*changes: tuple[str, str], reference: str = _REFERENCE) -> Pack:
    """The same pack with texts of its TOML replaced, and another reference."""
    toml = _TOML
    for old, new in changes:
        assert old in toml, old
        toml = toml.replace(old, new)
    folder = Path(tempfile.mkdtemp(prefix="gpujudge-test-pack-")) / "twice"
    folder.mkdir()
    (folder / "challenge.toml").write_text(toml)
    (folder / "reference.py").write_text(reference)
    (folder / "statement.md").write_text("Double it.\n")
    return load_pack(folder)


@cache
def build(source: str, *flags: str) -> Artifact:
    """Builds a shared library from C++. Cached: the same source is built once in a test run."""
    name = hashlib.sha256(source.encode()).hexdigest()[:12]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.cpp"
        path.write_text(source)
        library = path.with_suffix(".so")
        subprocess.run(["g++", "-O1", "-fPIC", "-shared", *flags, "-o", library, path], check=True, timeout=60)
        return Artifact(library.read_bytes(), Target("cuda", "sm_90"))
