"""Compares the emulator's model with measured times, over all our kernels, on the benchmarks that a GPU times.

    python benchmarks/model_against_measured.py model --jobs 16 --within 500 --output modelled.json
    python benchmarks/model_against_measured.py page modelled.json

``model`` runs each kernel of ``reference_solutions/`` that has a time on the H200 once on the emulator, with its
profile on, on the same benchmark, and asks the model for the time. It needs nvcc and many processors: the benchmarks
are those of a GPU. The smallest come first; one that takes longer than ``--each`` seconds is given up, and what is in
the file already is not run again. Outputs are not checked here: the kernels are ours, and other programs judge them.

``page`` writes docs/model-against-measured.md of that file and of the measured times.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from emulator.model import MODEL_VERSION, load_gpu
from judge.backends.registry import BUILTIN_BACKENDS
from judge.bench.modelled import modelled_call
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.measurements import ModelledKernel
from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops
from judge.settings import JudgeSettings
from judge.supervisor.factory import region_bytes, session_factory
from judge.supervisor.launcher import JailLauncher
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.wire.messages import Watch, kernel_time_factor

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS, PAGE = ROOT / "reference_solutions", ROOT / "docs" / "model-against-measured.md"
MEASURED = SOLUTIONS / "times" / "nvidia-h200.json"
GPU, MEASURED_ON = "h200", "cuda"
#: From this factor on, a kernel has a row on the page.
OFF = 1.4
#: A kernel of which so much memory would be needed is left out.
_MOST_BYTES = 6 << 30

Row = dict[str, Any]


def model_all(
    names: Sequence[str],
    known: dict[str, Row],
    output: Path,
    folder: Path,
    *,
    jobs: int,
    within_s: float,
    each_s: float,
) -> None:
    """Models the kernels that are not ``known`` yet and writes the file after each."""
    until_s = time.monotonic() + within_s
    waiting = sorted((work(name), name) for name in names if name not in known)
    BUILTIN_BACKENDS.of("emulator").prepare(JudgeSettings(folder))
    with ProcessPoolExecutor(jobs) as pool:
        made = {pool.submit(model_one, name, folder, until_s, each_s): name for _, name in waiting}
        for number, future in enumerate(as_completed(made), 1):
            name = made[future]
            try:
                row = future.result()
            except Exception as error:
                row = {"problem": f"{type(error).__name__}: {error}"[:200]}
            if row:
                known[name] = row
                output.write_text(json.dumps(_file(known), indent=1, sort_keys=True) + "\n")
            print(
                f"{number:4} of {len(made)} {name}: {row.get('seconds', row.get('problem', 'no time left'))}",
                flush=True,
            )


def _file(rows: Mapping[str, Row]) -> dict[str, Any]:
    return {"gpu": GPU, "model": MODEL_VERSION, "kernels": dict(rows)}


def work(name: str) -> float:
    """Returns about how long the emulator takes for a kernel's benchmarks, in no unit."""
    pack, cases = _task(name)
    return sum(case_bytes(pack, case) / 8 + (case_flops(pack, case) or 0.0) for case in cases)


def _task(name: str) -> tuple[Pack, tuple[Case, ...]]:
    pack = load_pack(ROOT / "challenges" / name.partition("/")[0])
    language = next(each for each in map(BUILTIN_LANGUAGES.of, BUILTIN_LANGUAGES) if name.endswith(each.suffixes))
    return pack.in_language(language.name), pack.benchmarks_for(MEASURED_ON)


def model_one(name: str, folder: Path, until_s: float, each_s: float) -> Row:
    """Returns the model's time of a kernel, a geometric mean over its benchmarks as the score is, and what makes it up.

    An empty row: there was no time left.
    """
    if time.monotonic() > until_s:
        return {}
    pack, cases = _task(name)
    settings = JudgeSettings(folder, emulator_threads=1, emulator_gpu=GPU)
    backend, language = BUILTIN_BACKENDS.of("emulator"), BUILTIN_LANGUAGES.of(pack.build.language)
    [device] = backend.discover(settings).devices
    report, artifact = language.build((SOLUTIONS / name).read_bytes(), pack, backend.target(device), settings)
    if artifact is None:
        return {"problem": language.headline(report)}
    found: list[Row] = []
    for case in cases:
        regions = region_bytes(pack, [case])
        if sum(regions) > _MOST_BYTES:
            return {"problem": f"its arguments take {sum(regions) >> 30} GiB"}
        spec = backend.runner_spec(device, settings)
        bounds = backend.bounds(pack, settings, sum(regions))
        bounds = dataclasses.replace(
            bounds,
            memory_bytes=bounds.memory_bytes + (8 << 30),
            warp_instructions=1 << 40,
            wall_s=each_s / kernel_time_factor(Watch.PROFILE),
        )
        generous = dataclasses.replace(
            settings, run=dataclasses.replace(settings.run, wall_s=4 * each_s, memory_bytes=32 << 30)
        )
        launcher = JailLauncher(spec, generous)
        factory = session_factory(pack, regions, spec, bounds, generous, launcher, cancelled=lambda: False)
        limits = dataclasses.replace(
            factory.bounds, start_s=120.0, call_s=each_s / kernel_time_factor(Watch.PROFILE), total_s=4 * each_s
        )
        factory = dataclasses.replace(factory, bounds=limits)
        inputs = make_inputs(pack, case, 1)
        layout = lay_out(pack, case, inputs)
        session = factory.start()
        try:
            session.load(artifact)
            layout.put_inputs(session.runner.inputs, inputs)
            del inputs
            layout.clear_outputs(session.runner.outputs)
            record = session.call(dataclasses.replace(layout.request, watch=Watch.PROFILE))
        except RunnerEnded as ended:
            late = ended.ending.timed_out
            return {"problem": f"more than {each_s:.0f} s on the emulator" if late else f"{ended}"}
        except RequestRefused as refused:
            return {"problem": str(refused)[:200]}
        finally:
            session.finish()
        claim = record.fetched.report
        if record.ran.code or claim is None or claim.limit or claim.unsupported:
            said = record.ran.message or (claim and (claim.unsupported or claim.limit)) or "no report"
            late = "time" in said or (claim is not None and claim.limit == "wall")
            return {"problem": f"more than {each_s:.0f} s on the emulator" if late else str(said)[:200]}
        call = modelled_call(claim, report, load_gpu(GPU), language=pack.build.language)
        kernel: ModelledKernel = call.details["kernels"][0]
        found.append({
            "seconds": call.seconds, "limiter": call.details["limiter"], "launches": call.details["launches"],
            "parts": {what: float(f"{part:.3g}") for what, part in kernel.bounds.items()}, "share": kernel.share,
            "warp_instructions": claim.warp_instructions, "occupancy": kernel.occupancy,
            "atomics": kernel.atomics, "barriers": kernel.barriers, "blocks": _product(kernel.grid),
            "threads": _product(kernel.block), "tensor": any(each.startswith("tensor") for each in kernel.flops),
            "sectors": kernel.global_sectors / (kernel.global_sectors_ideal or 1),
            "banks": kernel.shared_wavefronts / (kernel.shared_wavefronts_ideal or 1),
        })  # fmt: skip
    return {**found[0], "seconds": statistics.geometric_mean([each["seconds"] for each in found])}


def _product(shape: Sequence[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


def why(row: Row, ratio: float) -> str:
    """Returns the likely reason, by its counts, for a modelled time that is ``ratio`` times the measured one."""
    limiter = row["limiter"]
    blocks, threads = row["blocks"], row["threads"]
    if row["seconds"] < 12e-6:
        return "a launch and an empty call are most of it, and their prices are those of one driver"
    if ratio > 1:
        if limiter == "latency":
            return "waits are counted for each warp by itself, and overlap more on the GPU"
        if row["banks"] > 1.3 and limiter in ("shared-memory bandwidth", "L1 bandwidth"):
            return "ptxas joins neighboring accesses to shared memory, so that fewer conflict"
        if row["tensor"]:
            return "small products on tensor cores: only the first blocks wait for DRAM, and all are charged for it"
        if limiter in ("instruction issue", "integer arithmetic", "fp32 arithmetic", "special functions"):
            return "ptxas needs fewer instructions than the PTX has"
        return f"{limiter} is charged too much"
    if row["atomics"] and limiter != "DRAM bandwidth":
        return "an L2 slice does more beside the hottest address than is modelled"
    if row["sectors"] > 1.5:
        return "scattered accesses: DRAM's rows and banks are not modelled"
    if blocks * threads < 132 * 1024 or row["occupancy"] < 0.3:
        return "few warps: chains go on from one round of a loop into the next, which is not counted"
    if row["barriers"] > blocks * 8:
        return "warps wait for each other at barriers for longer than the longest one works"
    if limiter == "DRAM bandwidth":
        return "the L2 keeps less, or DRAM gives less, than the model takes"
    return f"more than {limiter} is at work at the same time"


def page(modelled: Mapping[str, Any], measured: Mapping[str, Any]) -> str:
    """Returns the page as Markdown."""
    rows = [
        (name, row, row["seconds"] / measured["kernels"][name]["value"], measured["kernels"][name]["value"])
        for name, row in sorted(modelled["kernels"].items())
        if "seconds" in row and name in measured["kernels"]
    ]
    ratios = [ratio for _, _, ratio, _ in rows]
    off = sorted((each for each in rows if max(each[2], 1 / each[2]) > OFF), key=lambda each: each[2])
    missing = [name for name in measured["kernels"] if "seconds" not in modelled["kernels"].get(name, {})]
    return "\n".join([*_head(modelled, measured, ratios), *_by_limiter(rows), *_off(off), *_missing(missing, modelled)])


def _head(modelled: Mapping[str, Any], measured: Mapping[str, Any], ratios: Sequence[float]) -> Iterator[str]:
    within = {factor: sum(max(ratio, 1 / ratio) <= factor for ratio in ratios) for factor in (1.2, OFF, 2.0)}
    quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [1.0, ratios[0] if ratios else 1.0, 1.0]
    yield "# Modelled against measured times"
    yield ""
    yield (
        f"The emulator's model of the {measured['device']['name']} (version {modelled['model']}) beside the times that "
        f"the judge measured on one, of {len(ratios)} of our {len(measured['kernels'])} kernels in "
        "`reference_solutions/`, on the benchmarks for GPUs. The model was calibrated on other kernels and much "
        "smaller sizes "
        "([how it works, and how right it is there](../emulator/model/README.md)). "
        "`python benchmarks/model_against_measured.py` models them and writes this page."
    )
    yield ""
    yield "| modelled / measured | |"
    yield "|---|---|"
    yield f"| median | {quarters[1]:.2f}; half of the kernels {quarters[0]:.2f} to {quarters[2]:.2f} |"
    for factor, count in within.items():
        yield f"| within a factor of {factor:g} | {count} of {len(ratios)} |"
    yield ""


def _by_limiter(rows: Sequence[tuple[str, Row, float, float]]) -> Iterator[str]:
    groups: dict[str, list[float]] = {}
    for _, row, ratio, _ in rows:
        groups.setdefault(row["limiter"], []).append(ratio)
    yield "## By what limits a kernel, as the model says"
    yield ""
    yield f"| limiter | kernels | median of modelled / measured | off by more than {OFF:g}× |"
    yield "|---|---|---|---|"
    for limiter, ratios in sorted(groups.items(), key=lambda item: -len(item[1])):
        off = sum(max(ratio, 1 / ratio) > OFF for ratio in ratios)
        yield f"| {limiter} | {len(ratios)} | {statistics.median(ratios):.2f} | {off} |"
    yield ""


def _off(off: Sequence[tuple[str, Row, float, float]]) -> Iterator[str]:
    yield f"## Off by more than {OFF:g}×"
    yield ""
    yield "The reasons follow from the counts of each kernel by rules of the script; no profiler has confirmed them."
    yield ""
    yield "| kernel | measured | modelled | ratio | limiter | likely why |"
    yield "|---|---|---|---|---|---|"
    for name, row, ratio, seconds in off:
        times = f"{_time(seconds)} | {_time(row['seconds'])} | {ratio:.2f}"
        yield f"| `{name}` | {times} | {row['limiter']} | {why(row, ratio)} |"
    yield ""


def _missing(missing: Sequence[str], modelled: Mapping[str, Any]) -> Iterator[str]:
    if not missing:
        return
    reasons: dict[str, int] = {}
    for name in missing:
        reason = modelled["kernels"].get(name, {}).get("problem", "not run yet")
        reasons[reason] = reasons.get(reason, 0) + 1
    yield "## Not modelled"
    yield ""
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        yield f"- {count}: {reason}"
    yield ""


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    modelling = commands.add_parser("model")
    modelling.add_argument("--output", type=Path, required=True)
    modelling.add_argument("--jobs", type=int, default=2)
    modelling.add_argument("--within", type=float, default=3600.0, metavar="S", help="begin no kernel after this")
    modelling.add_argument("--each", type=float, default=60.0, metavar="S")
    modelling.add_argument("--data-dir", type=Path, default=ROOT / ".cache" / "modelled", help="for what is built once")
    modelling.add_argument("--only", nargs="*", default=[], metavar="SLUG")
    writing = commands.add_parser("page")
    writing.add_argument("modelled", type=Path)
    given = parser.parse_args()
    measured = json.loads(MEASURED.read_text())
    if given.command == "page":
        PAGE.write_text(page(json.loads(given.modelled.read_text()), measured), encoding="utf-8")
        return 0
    names = [name for name in measured["kernels"] if not given.only or name.partition("/")[0] in given.only]
    known = json.loads(given.output.read_text())["kernels"] if given.output.exists() else {}
    model_all(
        names, known, given.output, given.data_dir.resolve(), jobs=given.jobs, within_s=given.within, each_s=given.each
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
