"""Measures how fast the emulator is, for the table in ``emulator/README.md``.

    python benchmarks/emulator_speed.py [--cores 2] [--repeat 15]

Each kernel runs on the emulator and, in the same process and by turns, as a per-thread scalar loop compiled by
``g++ -O2`` on as many cores; vector addition beside NumPy, tensor cores beside the emulator's own tiled product. The
figures are processor time divided by the cores, the least of all turns after better code was made: other work on the
machine disturbs that least. What the default checks cost is measured by turns, too. Then: how long a new kernel takes
from launch to its first instruction (LLVM loaded, as it is once the process has made its ``Runtime``), and one that is
in the disk cache.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from emulator import Runtime, native  # noqa: E402
from emulator.jit.options import Options  # noqa: E402
from emulator.runtime import programs  # noqa: E402

HERE = Path(__file__).resolve().parent
NVCC = ("nvcc", "-std=c++17", "-O3", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80")
N, LONG = 512, 1 << 24
ROWS, COLUMNS, SEQUENCE = 1024, 4096, 1024
#: A kernel, its block shape, for the compile times: about 100, 400, 600 and 1200 instructions.
COMPILED = (
    ("matmul_naive", (32, 8, 1)),
    ("block_reduce", (256, 1, 1)),
    ("softmax_rows", (256, 1, 1)),
    ("matmul_registers", (256, 1, 1)),
    ("attention", (64, 1, 1)),
)
AIMS = {"matmul_naive": 6, "matmul_tiled": 6, "block_reduce": 1.5, "vector_add": 0.7, "softmax_rows": 4, "attention": 4}


@dataclass(frozen=True, slots=True)
class Times:
    """The times of one kernel in milliseconds."""

    emulated: float
    unchecked: float
    beside: float


class Bench:
    """Runs all builds of the kernels on the emulated device."""

    def __init__(self, build: Path, cores: int, *, cache: Path | None = None) -> None:
        library = native.ensure(ROOT / ".cache" / "libraries")
        self.runtime = Runtime(library=library, threads=cores, cache=cache)
        self.emulated = ctypes.CDLL(str(build / "emulated.so"))
        self.unchecked = ctypes.CDLL(str(build / "unchecked.so"))
        self.scalar = ctypes.CDLL(str(build / "scalar.so"))
        self.scalar.use_cores(cores)
        self.cores = cores
        self._draw = np.random.default_rng(0)

    def array(self, count: int, dtype: Any = np.float32) -> tuple[ctypes.c_void_p, np.ndarray[Any, Any]]:
        size = count * np.dtype(dtype).itemsize
        pointer = self.runtime.malloc(size)
        values = np.frombuffer(self.runtime.view(pointer, size), dtype)
        values[:] = self._draw.random(count, np.float32)
        return ctypes.c_void_p(pointer), values

    def arguments(self, name: str, small: bool = False) -> tuple[Any, ...]:
        n, long, rows, sequence = (32, 256, 1, 64) if small else (N, LONG, ROWS, SEQUENCE)
        match name:
            case "matmul_naive" | "matmul_tiled" | "matmul_registers":
                return (*(self.array(n * n)[0] for _ in range(3)), n)
            case "matmul_wmma":
                return self.array(n * n, np.float16)[0], self.array(n * n, np.float16)[0], self.array(n * n)[0], n
            case "block_reduce":
                return self.array(long)[0], self.array(1024)[0], long, 1 if small else 1024
            case "vector_add":
                return (*(self.array(long)[0] for _ in range(3)), long)
            case "softmax_rows":
                return self.array(rows * COLUMNS)[0], self.array(rows * COLUMNS)[0], rows, COLUMNS
        return (*(self.array(sequence * 64)[0] for _ in range(4)), sequence)

    def emulate(self, name: str, arguments: tuple[Any, ...]) -> None:
        self._launch(self.emulated, name, arguments)

    def _launch(self, program: ctypes.CDLL, name: str, arguments: tuple[Any, ...]) -> None:
        getattr(program, f"run_{name}")(*arguments)
        self.runtime.synchronize()

    def measure(self, name: str, beside: Callable[[], object] | None, repeat: int) -> Times:
        arguments = self.arguments(name)
        ways: tuple[Callable[[], object], ...] = (
            lambda: self._launch(self.emulated, name, arguments),
            lambda: self._launch(self.unchecked, name, arguments),
            beside or (lambda: getattr(self.scalar, f"run_{name}")(*arguments)),
        )
        ways[0]()
        with mock.patch.object(programs, "Options", partial(Options, check_memory=False)):
            ways[1]()
        for _ in range(2):
            ways[0]()
            ways[1]()
        time.sleep(1)  # better code is made meanwhile
        turns = [[self._processor_ms(way) for way in ways] for _ in range(repeat)]
        return Times(*map(min, zip(*turns, strict=True)))

    def _processor_ms(self, work: Callable[[], object]) -> float:
        begin = time.process_time()
        work()
        return 1e3 * (time.process_time() - begin) / self.cores


def build(folder: Path) -> None:
    commands = (
        [
            *NVCC,
            "-Xcompiler",
            "-fPIC",
            "-shared",
            "-cudart",
            "shared",
            str(HERE / "emulator_speed.cu"),
            "-o",
            "emulated.so",
        ],
        [*NVCC, "-ptx", str(HERE / "emulator_speed.cu"), "-o", "kernels.ptx"],
        ["g++", "-O2", "-shared", "-fPIC", "-pthread", str(HERE / "emulator_speed.cpp"), "-o", "scalar.so"],
    )
    for command in commands:
        subprocess.run(command, check=True, cwd=folder)
    shutil.copy(folder / "emulated.so", folder / "unchecked.so")  # a program of its own


def speeds(folder: Path, cores: int, repeat: int) -> dict[str, Times]:
    bench = Bench(folder, cores)
    a, b, c = (bench.array(LONG)[1] for _ in range(3))
    found = {}
    for name in ("matmul_naive", "matmul_tiled", "block_reduce", "softmax_rows", "attention"):
        found[name] = bench.measure(name, None, repeat)
    added = bench.measure("vector_add", lambda: np.add(a, b, out=c), repeat)
    found["vector_add"] = replace(added, beside=added.beside * cores)  # NumPy uses one core
    product = bench.measure("matmul_wmma", lambda: None, repeat)
    found["matmul_wmma"] = replace(product, beside=found["matmul_tiled"].emulated)
    return found


def cold(folder: Path, name: str, features: str) -> tuple[int, float]:
    """Returns the PTX instructions, and the CPU milliseconds from PTX text to loaded code, of one compilation."""
    from emulator.jit import engine
    from emulator.jit.artifact import Artifact, Tier
    from emulator.jit.compiler import Compilation
    from emulator.jit.loader import load_artifact
    from emulator.jit.options import Options, Target
    from emulator.ptx import parse_module
    from emulator.runtime.library import load

    library = load(native.ensure(ROOT / ".cache" / "libraries"))
    text = (folder / "kernels.ptx").read_text()
    engine.warm_up()
    target = engine.host_target()
    if features == "avx2":
        plain = [f for f in target.features.split(",") if not f.startswith(("+avx512", "+avx10"))]
        target = Target("haswell", ",".join([*plain, "-avx512f"]))
    begin = time.process_time()
    module = parse_module(text)
    entry = next(entry for entry in module.entries if name in entry)
    compilation = Compilation(module, entry, dict(COMPILED)[name], Options(target=target))
    first = compilation.functions[0]
    code = {first: compilation.compile(first, Tier.QUICK)}
    load_artifact(library, Artifact(compilation.description(), code), lambda _: 0)
    taken = 1e3 * (time.process_time() - begin)
    return compilation.description().instruction_count, taken


def cached(folder: Path, cache: Path) -> dict[str, float]:
    """Returns the CPU milliseconds of each kernel's first launch, on little data, with a cache."""
    bench = Bench(folder, 1, cache=cache)
    found = {}
    for name, _ in COMPILED:
        arguments = bench.arguments(name, small=True)
        begin = time.process_time()
        bench.emulate(name, arguments)
        found[name] = 1e3 * (time.process_time() - begin)
    return found


def in_a_new_process(*arguments: object) -> Any:
    command = [sys.executable, __file__, "--part", *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def part(what: str, folder: str, *rest: str) -> object:
    return cold(Path(folder), rest[0], rest[1]) if what == "cold" else cached(Path(folder), Path(rest[0]))


def tables(folder: Path, cores: int, repeat: int) -> str:
    measured = speeds(folder, cores, repeat)
    lines = ["| kernel | emulator | beside it | times as fast | aim | checks |", "|---|--:|--:|--:|--:|--:|"]
    for name, times in measured.items():
        ours, other = times.emulated, times.beside
        beside = {"vector_add": "NumPy", "matmul_wmma": "tiled, emulated"}.get(name, "g++ -O2")
        aim = f"{AIMS[name]}" if name in AIMS else "0.33"
        cost = f"{100 * (ours / times.unchecked - 1):+.0f} %"
        lines.append(f"| {name} | {ours:.1f} ms | {beside} {other:.1f} ms | {other / ours:.2f} | {aim} | {cost} |")
    lines += [
        "",
        "| from launch to first instruction | PTX instructions | AVX-512 | AVX2 | from the cache |",
        "|---|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as cache:
        in_a_new_process("cached", folder, cache)
        loaded = in_a_new_process("cached", folder, cache)
    for name, _ in COMPILED:
        taken = [min(in_a_new_process("cold", folder, name, f) for _ in range(3)) for f in ("avx512", "avx2")]
        (count, wide), (_, narrow) = taken
        lines.append(f"| {name} | {count} | {wide:.0f} ms | {narrow:.0f} ms | {loaded[name]:.1f} ms |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        print(json.dumps(part(*given.part)))
        return
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        print(tables(Path(folder), given.cores, given.repeat))


if __name__ == "__main__":
    main()
