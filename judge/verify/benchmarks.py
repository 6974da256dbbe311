"""Checks that the benchmarks measure something, and makes the inputs of each once."""

from __future__ import annotations

import time
from collections.abc import Iterator

from judge.packs import sizes
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from judge.verify.cases import reference_failed
from judge.verify.findings import Finding, error, note, warning
from judge.verify.prepared import SEED

#: An H200 by NVIDIA's data sheet, without sparsity: bytes and operations a second that no kernel exceeds.
_BANDWIDTH = 4.8e12
_PEAKS = {"fp64": 67e12, "fp32": 67e12, "tf32": 494e12, "fp16": 989e12, "bf16": 989e12, "int8": 1979e12}
_FASTEST = 1979e12
_L2_BYTES = 60 << 20
#: Below this a call is mostly its launch; above the other, a judgement on a GPU takes too long.
_LEAST_S = 100e-6
_MOST_S = 20e-3
_MAX_BYTES = 4 << 30


def check_benchmarks(pack: Pack) -> Iterator[Finding]:
    """Yields the benchmarks on a GPU that are too short, too long or fit into its cache."""
    file = pack.directory / "challenge.toml"
    for kind in ("cuda", "emulator"):
        if not pack.benchmarks_for(kind):
            yield error("bench-missing", file, "benchmarks", f"has none for the device kind {kind}")
    for case in pack.benchmarks_for("cuda"):
        moved = sizes.case_bytes(pack, case) / _BANDWIDTH
        computed = (sizes.case_flops(pack, case) or 0) / _PEAKS.get(pack.bench.arithmetic, _FASTEST)
        least_s, key = max(moved, computed), f"benchmarks.{case.id}"
        if least_s < _LEAST_S:
            message = f"takes {least_s * 1e6:.0f} µs on an H200 at the least; choose sizes for {_LEAST_S * 1e6:.0f} µs"
            yield error("bench-short", file, key, message)
        if least_s > _MOST_S:
            yield warning("bench-long", file, key, f"takes {least_s * 1e3:.0f} ms on an H200 at the least")
        resident = argument_bytes(pack, case)
        if moved >= computed and resident < 2 * _L2_BYTES:
            message = f"its {resident >> 20} MiB of arguments fit nearly into an H200's cache of {_L2_BYTES >> 20} MiB"
            yield warning("bench-cached", file, key, message)
        if resident > _MAX_BYTES:
            yield warning("bench-large", file, key, f"its arguments take {resident / 2**30:.1f} GiB")


def make_benchmarks(pack: Pack) -> Iterator[Finding]:
    """Makes the inputs of every benchmark once, and yields a note on each with time and bytes."""
    for case in pack.benchmarks:
        started = time.perf_counter()
        try:
            made = make_inputs(pack, case, SEED)
        except Exception as problem:
            yield reference_failed(pack, case, problem)
            continue
        wall_s = time.perf_counter() - started
        size = sum(value.nbytes for value in made.values())
        message = f"inputs of {size / 2**20:.1f} MiB made in {wall_s:.2f} s"
        yield note("bench-inputs", pack.directory / "challenge.toml", f"benchmarks.{case.id}", message)


def argument_bytes(pack: Pack, case: Case) -> int:
    """Returns the bytes of all buffers of a call."""
    return sum(sizes.buffer_bytes(case, argument) for argument in pack.arguments)
