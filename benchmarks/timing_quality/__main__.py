"""Measures how well times repeat, tell kernels apart and agree with Nsight Compute, on this machine's GPUs.

    python -m benchmarks.timing_quality
    python -m benchmarks.timing_quality --devices cuda:0,cuda:1 --count 20 --json quality.json

Every time is that of a whole judgement, as of a submission: fresh processes, all cases, the whole protocol. Three
tables: how three kernels resubmitted ``--count`` times repeat; how often the faster of a pair that differs by a known
amount comes out as the faster one, and how often the two intervals lie apart, over all pairs of their judgements; and
the bias against ``gpu__time_duration`` of Nsight Compute, on our reference solutions. Last, how many judgements
there were in all, and how many ended with anything but AC: honest kernels all. With several GPUs the first shows how
times repeat, and the others share the pairs, each of which lies on one GPU: equal ones differ by more than a pair does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.timing_quality import workload  # noqa: E402
from benchmarks.timing_quality.judging import Job, Judged, judge_everywhere  # noqa: E402
from benchmarks.timing_quality.profiler import NoProfiler, median_duration  # noqa: E402
from judge import pipeline  # noqa: E402
from judge.backends.registry import BUILTIN_BACKENDS  # noqa: E402
from judge.gpu.kernels.build import ensure_kernels  # noqa: E402
from judge.packs.collection.loader import load_pack  # noqa: E402
from judge.settings import JudgeSettings  # noqa: E402

#: Differences of the pairs in percent; 0 is a kernel against itself.
DIFFERENCES = (0.0, 0.5, 1.0, 2.0)
#: The judgement in the middle of so many is compared with Nsight Compute.
BIAS_JUDGEMENTS = 3
#: Reference solutions that launch one kernel per call. ``reduction/plain.cu`` then waits for it, which Nsight Compute
#: does not count; the step of the ladder is the same without that.
PROFILED = (
    "vector-add/plain.cu",
    "vector-add/tuned.cu",
    "reduction/plain.cu",
    "reduction/ladder/2-tree-in-shared-memory.cu",
    "gemm/wmma.cu",
    "gemm/tuned.cu",
)


def jobs_of(folder: Path, devices: Sequence[str], count: int, pair_count: int) -> dict[str, list[Job]]:
    """Returns each GPU's jobs, in rounds, so that drift affects all kernels alike.

    ``pair_count`` is how often each kernel of a pair is judged on a GPU, except, on the first GPU, the kernel that all
    pairs share.
    """
    large, short = (str(workload.write_pack(folder, name).directory) for name in ("large", "short"))
    alone = [("memory-bound", workload.memory_bound(), large), ("short", workload.memory_bound(), short)]
    pairs = [(_compute_bound(percent), workload.compute_bound(percent), short) for percent in DIFFERENCES]
    first = [*alone, pairs[0]]
    if len(devices) == 1:
        return {devices[0]: _rounds(first, count, pairs[1:], pair_count)}
    others = devices[1:]
    shares = {device: _rounds(pairs, -(-pair_count // len(others))) for device in others}
    return {devices[0]: _rounds(first, count), **shares}


def _rounds(
    kernels: Sequence[tuple[str, str, str]], count: int, more: Sequence[tuple[str, str, str]] = (), more_count: int = 0
) -> list[Job]:
    """Returns ``count`` rounds of ``kernels`` and, along with the first of them, ``more_count`` rounds of ``more``."""
    return [
        Job(kernel, source, pack, seed)
        for seed in range(1, max(count, more_count) + 1)
        for kernel, source, pack in [*(kernels if seed <= count else ()), *(more if seed <= more_count else ())]
    ]


def _compute_bound(percent: float) -> str:
    return f"compute-bound +{percent:g} %" if percent else "compute-bound"


def repeatability(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Returns the median and the coefficient of variation of each kernel on the first GPU."""
    rows: list[dict[str, Any]] = []
    judged = [j for j in judged if j.device == judged[0].device]
    for kernel in ("memory-bound", "compute-bound", "short"):
        values = _values(judged, kernel)
        rows.append({
            "kernel": kernel,
            "judgements": len(values),
            "median_s": statistics.median(values),
            "variation": statistics.stdev(values) / statistics.mean(values),
            "interval": statistics.median(
                (j.high - j.low) / 2 / j.value for j in judged
                if j.kernel == kernel and j.value and j.low is not None and j.high is not None
            ),
        })  # fmt: skip
    return rows


class _Time(NamedTuple):
    """A score with the ends of its interval, in seconds."""

    value: float
    low: float
    high: float


def _times(judged: Sequence[Judged], device: str, kernel: str) -> list[_Time]:
    return [
        _Time(j.value, j.low, j.high)
        for j in judged
        if (j.device, j.kernel) == (device, kernel) and j.value and j.low is not None and j.high is not None
    ]


def ordering(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Returns how often the faster kernel has the smaller value, and how often the intervals are disjoint.

    Counts all pairs of judgements of two kernels on one GPU. A board ranks two entries apart if their intervals are
    disjoint.
    """
    rows: list[dict[str, Any]] = []
    for percent in DIFFERENCES:
        pairs, measured = [], []
        for device in sorted({j.device for j in judged}):
            base, other = (_times(judged, device, _compute_bound(each)) for each in (0, percent))
            pairs += [(a, b) for i, a in enumerate(base) for k, b in enumerate(other) if percent or i < k]
            if base and other:
                measured.append(100 * (_median(other) / _median(base) - 1))
        apart = sum(a.high < b.low or b.high < a.low for a, b in pairs)
        rows.append(
            {
                "difference_percent": percent,
                "measured_percent": statistics.median(measured),
                "pairs": len(pairs),
                "right_order": sum(a.value < b.value for a, b in pairs) / len(pairs) if percent else None,
                "told_apart": apart / len(pairs),
                "told_apart_wrongly": (sum(b.high < a.low for a, b in pairs) if percent else apart) / len(pairs),
            }
        )
    return rows


def bias(device_name: str, data_dir: str, folder: Path) -> list[dict[str, Any]]:
    """Compares the judge's times with Nsight Compute's, for reference solutions and the memory-bound kernel.

    This compares the clocks: both let a kernel find its buffers and the caches in the same state. Nsight Compute's time
    with empty caches is returned as well.
    """
    settings = JudgeSettings(data_dir=Path(data_dir))
    device = BUILTIN_BACKENDS.find_device(device_name, settings)
    kernels = [
        (name, (ROOT / "reference_solutions" / name).read_bytes(), ROOT / "challenges" / name.split("/")[0])
        for name in PROFILED
    ]
    kernels.append(("twice (537 MB)", workload.memory_bound().encode(), folder / "twice-large"))
    kernels.append(("twice (16 MB)", workload.memory_bound().encode(), folder / "twice-short"))
    ours = ensure_kernels(device.compute_capability, settings.data_dir / "kernels", settings.nvcc)
    rows: list[dict[str, Any]] = []
    for name, source, pack_folder in kernels:
        pack = load_pack(pack_folder)
        _, artifact = pipeline.build(source, pack, device, settings)
        judgements = [pipeline.judge(source, pack, device, seed, settings) for seed in range(1, BIAS_JUDGEMENTS + 1)]
        scores = [each.measurement for each in judgements if each.measurement is not None]
        if artifact is None or len(scores) < BIAS_JUDGEMENTS:
            failed = next(each for each in judgements if each.measurement is None)
            rows.append({"kernel": name, "problem": f"{failed.verdict.value}: {failed.message}"})
            continue
        profiled_s = median_duration(artifact.library, pack_folder, ours)
        score = sorted(scores, key=lambda each: each.value)[len(scores) // 2]
        judged_s = score.value
        rows.append({"kernel": name, "judge_s": judged_s, "low_s": score.low, "high_s": score.high,
                     "ncu_s": profiled_s, "bias_s": judged_s - profiled_s,
                     "within": abs(judged_s - profiled_s) <= 0.01 * profiled_s + 1e-6,
                     "ncu_empty_s": median_duration(artifact.library, pack_folder, ours, 1, empty_caches=True),
                     })  # fmt: skip
        print(f"{name}: {judged_s * 1e6:.2f} us by the judge, {profiled_s * 1e6:.2f} us by ncu", flush=True)
    return rows


def tables(result: dict[str, Any]) -> str:
    """Returns the figures in Markdown, without those that were not measured."""
    shown = [
        *(_repeatability_table(result["repeatability"]) if result["repeatability"] else ()),
        *(_ordering_table(result["ordering"]) if result["ordering"] else ()),
        *(_bias_table(result["bias"]) if result["bias"] else ()),
    ]
    if result["judgements"]:
        shown.append(
            f"{result['judgements']} judgements of honest kernels; verdicts: {result['verdicts']}; "
            f"median {result['median_wall_s']:.2f} s each."
        )
    return "\n".join(shown)


def _repeatability_table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "| Kernel | Judgements | Median | Coefficient of variation | Interval |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for row in rows:
        figures = f"{row['judgements']} | {row['median_s'] * 1e6:.2f} µs | {row['variation']:.3%}"
        yield f"| {row['kernel']} | {figures} | ± {row['interval']:.2%} |"
    yield ""


def _ordering_table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "| Made to differ by | Measured | Pairs | Right order | Told apart | Wrongly |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for row in rows:
        right = "" if row["right_order"] is None else f"{row['right_order']:.1%}"
        yield (
            f"| {row['difference_percent']:g} % | {row['measured_percent']:.2f} % | {row['pairs']} | {right} "
            f"| {row['told_apart']:.1%} | {row['told_apart_wrongly']:.1%} |"
        )
    yield ""


def _bias_table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "| Kernel | Judge | Nsight Compute | Difference | Caches empty |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for row in rows:
        if "problem" in row:
            yield f"| {row['kernel']} | {row['problem']} | | | |"
            continue
        interval = (row["high_s"] - row["low_s"]) / 2 / row["judge_s"]
        yield (
            f"| {row['kernel']} | {row['judge_s'] * 1e6:.2f} µs ± {interval:.1%} | {row['ncu_s'] * 1e6:.2f} µs "
            f"| {row['bias_s'] * 1e6:+.2f} µs ({row['bias_s'] / row['ncu_s']:+.2%}) "
            f"| {row['ncu_empty_s'] * 1e6:.2f} µs |"
        )
    yield ""


def _values(judged: Sequence[Judged], kernel: str) -> list[float]:
    return [j.value for j in judged if j.kernel == kernel and j.value is not None]


def _median(times: Sequence[_Time]) -> float:
    return statistics.median(time.value for time in times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="cuda:0", help="comma-separated (default: %(default)s)")
    parser.add_argument("--count", type=int, default=20, help="judgements of each kernel (default: %(default)s)")
    parser.add_argument("--pairs", type=int, help="judgements of each kernel of a pair (default: as --count)")
    parser.add_argument("--within", type=float, default=1e9, help="begin no judgement after so many seconds")
    parser.add_argument("--json", type=Path, help="write all figures there")
    bias_or_not = parser.add_mutually_exclusive_group()
    bias_or_not.add_argument("--no-bias", action="store_true", help="leave Nsight Compute out")
    bias_or_not.add_argument("--only-bias", action="store_true", help="only compare with Nsight Compute")
    arguments = parser.parse_args()
    devices = arguments.devices.split(",")
    with tempfile.TemporaryDirectory(prefix="gpujudge-timing-") as name:
        folder = Path(name)
        jobs = jobs_of(folder, devices, arguments.count, arguments.pairs or arguments.count)
        judged = [] if arguments.only_bias else judge_everywhere(jobs, name, arguments.within)
        verdicts = {verdict: sum(j.verdict == verdict for j in judged) for verdict in {j.verdict for j in judged}}
        result: dict[str, Any] = {
            "judgements": len(judged),
            "verdicts": verdicts,
            "median_wall_s": statistics.median(j.wall_s for j in judged) if judged else None,
            "repeatability": repeatability(judged) if judged else [],
            "ordering": ordering(judged) if judged else [],
            "bias": [],
            "judged": [asdict(j) for j in judged],
        }
        if not arguments.no_bias:
            try:
                result["bias"] = bias(devices[0], name, folder)
            except NoProfiler as problem:
                print(f"no bias: {problem}", file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    print(tables(result))
    has_all = bool(result["bias"]) if arguments.only_bias else set(verdicts) == {"AC"}
    return 0 if has_all and not any("problem" in row for row in result["bias"]) else 1


if __name__ == "__main__":
    sys.exit(main())
