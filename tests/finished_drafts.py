"""Ten challenges that ``pack new`` began, finished as an author would: what they replace, and what they add.

Their signatures and shapes are in no challenge of the catalogue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from judge.packs.collection.draft import draft_pack

_STATEMENT = """{what}

## What you write

{{{{signature}}}}

All pointers are **device** pointers.

## Constraints

{{{{constraints}}}}

## Example

{example}
"""


@dataclass(frozen=True, slots=True)
class FinishedDraft:
    """An author's texts. ``shapes``, ``data`` and ``tolerances`` are by array; ``edits`` replace other lines."""

    slug: str
    signature: str
    what: str
    example: str
    shapes: dict[str, str]
    reference: str
    body: str
    flops: str
    bytes: str
    launch: str
    tolerances: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    #: Sizes at which a copy or a constant is right.
    guessable: str = ""
    #: Of the GPU and of the emulator, where the draft's do not do.
    benchmarks: tuple[str, str] | None = None

    def write(self, root: Path) -> Path:
        """Writes the challenge and its kernel below ``root``; returns the challenge's folder."""
        folder, kernels = root / "challenges" / self.slug, root / "reference_solutions" / self.slug
        folder.mkdir(parents=True)
        kernels.mkdir(parents=True)
        (folder / "challenge.toml").write_text(self.toml(), encoding="utf-8")
        (folder / "reference.py").write_text(f'"""{self.what}"""\n\nimport numpy as np\n\n\n{self.reference}')
        (folder / "statement.md").write_text(_STATEMENT.format(what=self.what, example=self.example))
        parameters = self.signature.partition("(")[2].rpartition(")")[0]
        names = ", ".join(re.findall(r"(\w+)(?=,|$)", parameters))
        (kernels / "plain.cu").write_text(
            "#include <cuda_runtime.h>\n#include <cstdint>\n\n"
            f"__global__ void compute({parameters}) {{\n"
            f"    long long i = blockIdx.x * 128LL + threadIdx.x;\n{self.body}}}\n\n"
            f'extern "C" {self.signature} {{\n    long long threads = {self.launch};\n'
            f"    compute<<<(unsigned)((threads + 127) / 128), 128>>>({names});\n}}\n"
        )
        return folder

    def toml(self) -> str:
        """Returns the draft's ``challenge.toml`` with what the author replaces."""
        text = draft_pack(self.slug, self.signature)["challenge.toml"]
        text = re.sub(r"^tags = \[\]", 'tags = ["first-try"]', text, flags=re.MULTILINE)
        text = text.replace('description = ""', 'description = "a size"')
        for name, shape in self.shapes.items():
            text = re.sub(rf"(\[arrays\.{name}\]\nshape = ).*", rf"\g<1>{shape}", text)
        for name, data in self.data.items():
            text = re.sub(rf"(\[arrays\.{name}\]\n(?:.*\n)?)data = .*", rf"\g<1>data = {data}", text)
        for name, tolerance in self.tolerances.items():
            text = re.sub(rf"^{name} = {{ kind.*", f"{name} = {tolerance}", text, flags=re.MULTILINE)
        text = re.sub(r"^bytes = .*", f'bytes = "{self.bytes}"', text, flags=re.MULTILINE)
        text = re.sub(r"^flops = .*", f'flops = "{self.flops}"', text, flags=re.MULTILINE)
        for old, new in self.edits:
            assert old in text, f"{self.slug}: {old}\n{text}"
            text = text.replace(old, new)
        if self.benchmarks is not None:
            cuda, emulator = self.benchmarks
            sizes = f"benchmark_sizes = {{ cuda = [[{cuda}]], emulator = [[{emulator}]] }}"
            text = re.sub(r"^benchmark_sizes = .*", sizes, text, flags=re.MULTILINE)
        if self.guessable:
            text += f"\n[[cases]]\nguessable = true\naxes = {{ {self.guessable} }}\n"
        return re.sub(r"[ \t]*# TODO.*", "", text)


EXACT = '{ kind = "exact" }'
FINISHED = (
    FinishedDraft(
        slug="row-median",
        signature="void solve(const float* input, float* medians, int rows, int cols)",
        what="The lower median of each row: the number that (cols - 1) / 2 others do not exceed.",
        example="The median of 5, 1, 4, 2 is 2.",
        shapes={"medians": '["rows"]'},
        tolerances={"medians": EXACT},
        reference="""def reference(input, rows, cols):
    return np.sort(input, axis=1)[:, (int(cols) - 1) // 2].astype(np.float64)
""",
        body="""    if (i >= rows) return;
    const float* row = input + i * cols;
    for (int a = 0; a < cols; a++) {
        int before = 0;
        for (int b = 0; b < cols; b++) before += row[b] < row[a] || (row[b] == row[a] && b < a);
        if (before == (cols - 1) / 2) medians[i] = row[a];
    }
""",
        launch="rows",
        flops="rows*cols",
        bytes="4*rows*cols + 4*rows",
        edits=(
            ("[[1, 1], ", "["),
            ("[3, 1031]", "[3, 301]"),
            ("[32_768, 3], [2, 16_384]", "[65_537, 3], [2, 1024]"),
            ("rows = { max = 32_768", "rows = { max = 1_048_576"),
            ("cols = { max = 16_384", "cols = { max = 1024"),
        ),
        benchmarks=("1_048_576, 128", "2048, 32"),
        guessable="rows = 1, cols = 1",
    ),
    FinishedDraft(
        slug="kronecker-product",
        signature="void solve(const float* A, const float* B, float* C, int M, int N, int P, int Q)",
        what="The Kronecker product: each number of A times the whole of B.",
        example="With A = [2, 3] and B = [5], C = [10, 15].",
        shapes={"A": '["M", "N"]', "B": '["P", "Q"]', "C": '["M*P", "N*Q"]'},
        tolerances={"C": '{ kind = "elementwise" }'},
        reference="def reference(A, B, M, N, P, Q):\n    return np.kron(A.astype(np.float64), B)\n",
        body="""    if (i >= (long long)M * P * N * Q) return;
    long long r = i / (N * Q), c = i % (N * Q);
    C[i] = A[r / P * N + c / Q] * B[r % P * Q + c % Q];
""",
        launch="(long long)M * P * N * Q",
        flops="M*N*P*Q",
        bytes="4*(M*N + P*Q + M*N*P*Q)",
        benchmarks=("1024, 1024, 13, 17", "64, 32, 13, 17"),
    ),
    FinishedDraft(
        slug="longest-of-ragged",
        signature="void solve(const float* values, const int* offsets, float* largest, int total, int rows)",
        what="The largest number of each ragged row, and 0 for a row that is empty.",
        example="With offsets 0, 2, 2, 3 and values 1, 5, -4 the largest are 5, 0, -4.",
        shapes={"values": '["total"]', "offsets": '["rows + 1"]', "largest": '["rows"]'},
        data={"offsets": '{ kind = "offsets", total = "total" }'},
        tolerances={"largest": EXACT},
        reference="""def reference(values, offsets, total, rows):
    parts = zip(offsets[:-1], offsets[1:])
    return np.array([values[first:end].max() if end > first else 0.0 for first, end in parts], np.float64)
""",
        body="""    if (i >= rows) return;
    float most = 0.0f;
    for (int at = offsets[i]; at < offsets[i + 1]; at++) most = at == offsets[i] ? values[at] : fmaxf(most, values[at]);
    largest[i] = most;
""",
        launch="rows",
        flops="total",
        bytes="4*(total + 2*rows)",
        edits=(
            ("[[1, 1], ", "["),
            ("[16_384, 5], [2, 16_384]", "[65_537, 3], [2, 65_537]"),
            ("total = { max = 16_384", "total = { max = 268_435_456"),
            ("rows = { max = 16_384", "rows = { max = 33_554_432"),
        ),
        benchmarks=("200_000_000, 20_000_000", "100_000, 9000"),
        guessable="total = 1, rows = 1",
    ),
    FinishedDraft(
        slug="complex-product",
        signature="void solve(const float2* a, const float2* b, float2* c, int N)",
        what="The products of complex numbers.",
        example="(1 + 2i) (3 + i) = 1 + 7i.",
        shapes={"a": '["N"]', "b": '["N"]', "c": '["N"]'},
        tolerances={"c": '{ kind = "close", absolute = 1e-5, relative = 1e-5 }'},
        reference="""def reference(a, b, N):
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.stack([x[:, 0] * y[:, 0] - x[:, 1] * y[:, 1], x[:, 0] * y[:, 1] + x[:, 1] * y[:, 0]], axis=1)
""",
        body="""    if (i >= N) return;
    c[i] = make_float2(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
""",
        launch="N",
        flops="6*N",
        bytes="24*N",
    ),
    FinishedDraft(
        slug="pack-bits",
        signature="void solve(const bool* flags, uint32_t* words, int N)",
        what="The flags as bits of words, the first one lowest; bits beyond N are 0.",
        example="The flags 1, 0, 1 make the word 5.",
        shapes={"flags": '["N"]', "words": '["ceil_div(N, 32)"]'},
        tolerances={"words": EXACT},
        reference="""def reference(flags, N):
    padded = np.pad(flags, (0, -len(flags) % 32)).reshape(-1, 32)
    return (padded.astype(np.int64) << np.arange(32)).sum(axis=1)
""",
        body="""    if (i >= (N + 31) / 32) return;
    uint32_t word = 0;
    for (int k = 0; k < 32 && 32 * i + k < N; k++) word |= (uint32_t)flags[32 * i + k] << k;
    words[i] = word;
""",
        launch="(N + 31) / 32",
        flops="N",
        bytes="N + N/8",
        edits=(("[[1], ", "["), ("max = 268_435_456", "max = 1_073_741_824")),
        benchmarks=("536_870_912", "400_000"),
        guessable="N = 1",
    ),
    FinishedDraft(
        slug="running-maximum",
        signature="void solve(const int* input, int* output, int rows, int cols)",
        what="In each row, the largest of all numbers up to each place.",
        example="3, 1, 4, 2 becomes 3, 3, 4, 4.",
        shapes={},
        tolerances={"output": EXACT},
        reference="""def reference(input, rows, cols):
    return np.maximum.accumulate(input.astype(np.int64), axis=1)
""",
        body="""    if (i >= rows) return;
    int most = input[i * cols];
    for (int c = 0; c < cols; c++) output[i * cols + c] = most = max(most, input[i * cols + c]);
""",
        launch="rows",
        flops="rows*cols",
        bytes="8*rows*cols",
        edits=(("[[1, 1], ", "["),),
        guessable="rows = 1, cols = 1",
    ),
    FinishedDraft(
        slug="batched-trace",
        signature="void solve(const double* matrices, double* traces, int batch, int n)",
        what="The sum of the diagonal of each matrix.",
        example="The trace of [[1, 2], [3, 4]] is 5.",
        shapes={"matrices": '["batch", "n", "n"]', "traces": '["batch"]'},
        tolerances={"traces": '{ kind = "sum", accumulate = "float64", terms = "n" }'},
        reference="def reference(matrices, batch, n):\n    return np.trace(matrices, axis1=1, axis2=2)\n",
        body="""    if (i >= batch) return;
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += matrices[i * n * n + (long long)k * n + k];
    traces[i] = sum;
""",
        launch="batch",
        flops="batch*n",
        bytes="32*batch*n + 8*batch",
        edits=(
            ("[[1, 1], ", "["),
            ("[3, 1031]", "[3, 233]"),
            ("[16_384, 5], [2, 16_384]", "[65_537, 3], [2, 512]"),
            ("batch = { max = 16_384", "batch = { max = 2_097_152"),
            ("n = { max = 16_384", "n = { max = 512"),
        ),
        benchmarks=("1_048_576, 16", "4096, 16"),
        guessable="batch = 1, n = 1",
    ),
    FinishedDraft(
        slug="channel-dequantisation",
        signature="void solve(const int16_t* codes, const float* scales, float* output, int channels, int length)",
        what="Each code times the scale of its channel.",
        example="With the scales 0.5 and 2 and one code of 3 in each channel: 1.5 and 6.",
        shapes={"codes": '["channels", "length"]', "scales": '["channels"]', "output": '["channels", "length"]'},
        tolerances={"output": '{ kind = "elementwise" }'},
        reference="""def reference(codes, scales, channels, length):
    return codes * scales.astype(np.float64)[:, None]
""",
        body="""    if (i >= (long long)channels * length) return;
    output[i] = codes[i] * scales[i / length];
""",
        launch="(long long)channels * length",
        flops="channels*length",
        bytes="6*channels*length + 4*channels",
        benchmarks=("16_384, 8192", "512, 256"),
    ),
    FinishedDraft(
        slug="polynomial",
        signature="void solve(const float* coefficients, const float* x, float* y, int terms, int N)",
        what="The value of a polynomial at many places; the first coefficient is the constant one.",
        example="1 + 2x at 3 is 7.",
        shapes={"coefficients": '["terms"]', "x": '["N"]', "y": '["N"]'},
        data={"x": '{ kind = "uniform", low = -1, high = 1 }'},
        reference="""def reference(coefficients, x, terms, N):
    places, value = x.astype(np.float64), np.zeros(len(x))
    for coefficient in coefficients[::-1]:
        value = value * places + coefficient
    return value
""",
        body="""    if (i >= N) return;
    float value = 0.0f;
    for (int t = terms - 1; t >= 0; t--) value = value * x[i] + coefficients[t];
    y[i] = value;
""",
        launch="N",
        flops="2*terms*N",
        bytes="4*(terms + 2*N)",
        edits=(
            ("[[1, 1], ", "["),
            ("[2, 16_384]", "[2, 65_537]"),
            ("N = { max = 16_384", "N = { max = 134_217_728"),
        ),
        benchmarks=("64, 67_108_864", "16, 100_000"),
        guessable="terms = 1, N = 1",
    ),
    FinishedDraft(
        slug="leaky-in-place",
        signature="void solve(half* values, float slope, int count)",
        what="Negative numbers times the slope, in place.",
        example="With the slope 0.5, -2 becomes -1, and 3 stays.",
        shapes={"values": '["count"]'},
        tolerances={"values": '{ kind = "elementwise", accumulate = "float32" }'},
        reference="""def reference(values, slope, count):
    numbers = values.astype(np.float64)
    return np.where(numbers < 0, numbers * float(slope), numbers)
""",
        body="""    if (i >= count) return;
    float value = __half2float(values[i]);
    if (value < 0.0f) values[i] = __float2half(value * slope);
""",
        launch="count",
        flops="count",
        bytes="4*count",
    ),
)
