"""A pack in which a verification finds nothing, as files, that tests can break."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

TOML = """\
schema = 2
title = "Scale a vector"
version = "2.3.4"
difficulty = "easy"
signature = "void solve(const float* x, float* y, int N, float factor)"

[axes]
N = { max = 100_000_000, description = "number of elements" }

[parameters]
factor = { default = 3.0, min = -8, max = 8 }

[arrays.x]
shape = ["N"]
data = { kind = "uniform", low = -1, high = 1 }

[arrays.y]
shape = ["N"]

[tolerance]
y = { kind = "elementwise" }

[bench]
bytes = "8*N"
flops = "N"

[[cases]]
id = "sample"
group = "sample"
axes = { N = 5 }
parameters = { factor = -2 }

[[cases]]
id = "one"
axes = { N = 1 }

[[cases]]
id = "hundred"
axes = { N = 100 }

[[cases]]
id = "warp"
axes = { N = 33 }
parameters = { factor = 8 }

[[cases]]
id = "pairs"
axes = { N = 50 }

[[cases]]
id = "prime"
axes = { N = 1031 }
parameters = { factor = -8 }

[[cases]]
id = "blocks"
axes = { N = 1_100_000 }

[[benchmarks]]
id = "big"
devices = ["cuda"]
axes = { N = 100_000_000 }

[[benchmarks]]
id = "small"
devices = ["emulator"]
axes = { N = 100_000 }
"""

REFERENCE = """\
import numpy as np


def reference(x, N, factor):
    return x.astype(np.float64) * float(factor)
"""

STATEMENT = "# Scale\n\n{{signature}}\n\n{{constraints}}\n\nAt most {{N.max}}. Example: 2 times 3 is 6.\n"


@pytest.fixture
def pack_directory(tmp_path: Path) -> Path:
    directory = tmp_path / "challenges" / "scale"
    directory.mkdir(parents=True)
    (directory / "challenge.toml").write_text(TOML)
    (directory / "reference.py").write_text(REFERENCE)
    (directory / "statement.md").write_text(STATEMENT)
    for verdict in ("accepted", "wrong_answer"):
        folder = directory / "submissions" / verdict
        folder.mkdir(parents=True)
        (folder / "one.cu").write_text("// right\nvoid solve() {}\n")
    return directory


@pytest.fixture
def edit(pack_directory: Path) -> Callable[..., Path]:
    """Replaces a text that must be there in a file of the pack; returns its directory."""

    def replace(old: str, new: str, file: str = "challenge.toml") -> Path:
        path = pack_directory / file
        text = path.read_text()
        assert text.count(old) >= 1, old
        path.write_text(text.replace(old, new, 1))
        return pack_directory

    return replace
