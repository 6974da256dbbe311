"""Times libraries' calls (``[baselines]`` of challenges) and our kernels, in one process, on a GPU.

    python benchmarks/library_baselines.py --seconds 230 --output baselines.json
    python benchmarks/library_baselines.py gemm softmax --functional
    python benchmarks/library_baselines.py --merge baselines.json
    python benchmarks/library_baselines.py --readme

Each call has a flushed cache and the clock of submissions; the library's outputs on the benchmark are checked against
the pack's reference, with ``--functional`` those of all functional cases too. Our kernels' times are those on record
for the kind of GPU (``reference_solutions/times/``). With ``--ours`` they are built here and timed in alternation with
the library (library, plain, tuned, library, ...): then the ratios compare what one GPU did within seconds.
Rows are printed, and written to ``--output``, as they come. ``--merge`` adds such a file to
``reference_solutions/times/baselines/<device>.json``; ``--readme`` writes what libraries win to
``reference_solutions/README.md``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.bench.library.record import LibraryTime, speed
from judge.bench.statistics import MIN_RELATIVE_HALF_WIDTH, Interval
from judge.compile.toolchain import find_toolchain
from judge.gpu.kernels.build import ensure_kernels
from judge.packs import judging
from judge.packs.baselines import load_functions
from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "reference_solutions"
TIMES = SOLUTIONS / "times"
BEGIN, END = "<!-- libraries -->", "<!-- end of libraries -->"
OURS = ("plain", "tuned", "tuned_sm90")
ROUNDS = 3
#: An idle GPU's clocks are low; between challenges it is hardly idle.
_WARM_UP_S = 0.05
_SEED = 1


def build_ours(source: Path, pack: Pack, capability: str, folder: Path) -> Path | None:
    """Returns a shared library with ``solve``; None where nvcc cannot build it."""
    nvcc = find_toolchain(None).root / "bin" / "nvcc"
    home = folder / pack.slug / source.stem
    home.mkdir(parents=True, exist_ok=True)
    (home / "solve.h").write_text(pack.header())
    made = home / "solve.so"
    number = capability.replace(".", "")
    command = [
        nvcc, f"-std={pack.build.std}", "-O3", "-shared", "-Xcompiler", "-fPIC", "-I", home,
        f"-gencode=arch=compute_{number}a,code=sm_{number}a", source, "-o", made,
    ]  # fmt: skip
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{source}: {(done.stdout + done.stderr).strip()[-300:]}", file=sys.stderr)
        return None
    return made


def our_function(library: Path, pack: Pack) -> Callable[..., Any]:
    """Returns a function that calls ``solve`` with tensors and numbers by name."""
    # Kernels for Hopper encode tensor maps by the driver, against which nobody links here.
    ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
    solve = ctypes.CDLL(str(library)).solve
    solve.restype = None
    kinds = [
        ctypes.c_void_p if argument.is_pointer else getattr(ctypes, str(argument.element.facts.ctypes_name))
        for argument in pack.arguments
    ]
    solve.argtypes = kinds

    def call(**arguments: Any) -> None:
        solve(*(value.data_ptr() if hasattr(value, "data_ptr") else value for value in arguments.values()))

    return call


class Bench:
    """One device, its timer and what was found so far."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        import torch

        from judge.bench.library import settings
        from judge.bench.library.timer import Timer

        settings.settle()
        properties = torch.cuda.get_device_properties(0)
        torch.zeros(1, device="cuda")
        self.capability = f"{properties.major}.{properties.minor}"
        self.timer = Timer(ensure_kernels(self.capability, folder))
        self.arguments, self.folder = arguments, folder
        self.document: dict[str, Any] = {
            "taken_at": datetime.now(UTC).date().isoformat(),
            "device": {"name": properties.name, "compute_capability": self.capability},
            "versions": versions(),
            "empty_call_s": self.timer.empty_s,
            "rows": {},
        }
        print(json.dumps({key: value for key, value in self.document.items() if key != "rows"}), flush=True)

    def run(self, packs: list[Pack]) -> None:
        """Times as many packs as the time allows."""
        arguments = self.arguments
        end = time.monotonic() + arguments.seconds
        builders = concurrent.futures.ThreadPoolExecutor(arguments.builders)
        builds = {
            (pack.slug, kind): builders.submit(build_ours, path, pack, self.capability, self.folder)
            for pack in packs
            for kind in OURS
            if arguments.ours and (path := SOLUTIONS / pack.slug / f"{kind}.cu").exists()
        }
        # Nothing works beside what is timed: a busy host issues calls late, and that would be measured.
        builders.shutdown()
        for index, pack in enumerate(packs):
            if time.monotonic() > end:
                print(f"out of time; left out: {' '.join(pack.slug for pack in packs[index:])}", flush=True)
                break
            ours = {kind: builds[pack.slug, kind].result() for kind in OURS if (pack.slug, kind) in builds}
            try:
                row = self.row(pack, pack.benchmarks_for("cuda")[0], ours)
            except Exception as error:
                row = {"times": {}, "problems": {"": f"{type(error).__name__}: {str(error)[:400]}"}}
            self.document["rows"][pack.slug] = row
            print(line(pack.slug, row), flush=True)
            if arguments.output:
                arguments.output.write_text(json.dumps(self.document, indent=2) + "\n")

    def row(self, pack: Pack, case: Case, ours: dict[str, Path | None]) -> dict[str, Any]:
        """Checks and times everything that does one pack's task."""
        import torch

        from judge.bench.library.calls import Call
        from judge.bench.library.rounds import check, time_round
        from judge.bench.statistics import between_processes

        contestants: dict[str, Callable[..., Any]] = {}
        row: dict[str, Any] = {"case": case.id, "times": {}, "problems": {}, "issuing_s": {}}
        inputs = make_inputs(pack, case, _SEED)
        first = Call(pack, case, inputs, "cuda")
        for name, function in load_functions(pack.directory, pack.baselines).items():
            try:
                for functional in pack.cases_for("cuda") if self.arguments.functional else ():
                    check(pack, functional, function, _SEED, "cuda")
                call = first.again()
                outputs = call.outputs(call.make(function))
                mismatch = None if self.arguments.unchecked else judging.spot_check(pack, case, inputs, outputs, _SEED)
                if mismatch is not None:
                    raise ValueError(f"wrong on {case.id}: {mismatch.message}")
                contestants[name] = function
            except Exception as error:
                row["problems"][name] = f"{type(error).__name__}: {str(error)[:400]}"
        contestants |= {kind: our_function(built, pack) for kind, built in ours.items() if built is not None}
        medians: dict[str, list[float]] = {name: [] for name in contestants}
        for _ in range(ROUNDS):
            for name, function in contestants.items():
                try:
                    call = first.again()
                    samples, issuing_s = time_round(
                        call, function, self.timer, self.arguments.budget, warm_up_s=_WARM_UP_S
                    )
                    medians[name].append(sorted(samples)[len(samples) // 2])
                    row["issuing_s"][name] = issuing_s
                except RuntimeError as error:
                    row["problems"][name] = f"{type(error).__name__}: {str(error)[:400]}"
                del call
            torch.cuda.empty_cache()
        for name, values in medians.items():
            if len(values) == ROUNDS:
                found = between_processes(values)
                row["times"][name] = [found.value, found.low, found.high]
        return row


def versions() -> dict[str, str]:
    """Returns the versions of driver and libraries."""
    import torch

    found = {"torch": torch.__version__, "cuda": str(torch.version.cuda), "cudnn": str(torch.backends.cudnn.version())}
    try:
        import cupy

        found["cupy"] = cupy.__version__
        found["driver"] = str(cupy.cuda.runtime.driverGetVersion())
    except ImportError:
        pass
    return found


def line(slug: str, row: dict[str, Any]) -> str:
    """Returns one row as text: times in microseconds."""
    times = "  ".join(f"{name} {value[0] * 1e6:,.1f}" for name, value in row["times"].items())
    problems = "".join(f"\n    {name}: {why}" for name, why in row["problems"].items())
    return f"{slug:28s} {times}{problems}"


def fastest(row: dict[str, Any], names: list[str]) -> tuple[str, list[float]] | None:
    """Returns the name and the time of the fastest of these."""
    timed = [(name, row["times"][name]) for name in names if name in row["times"]]
    return min(timed, key=lambda each: each[1][0]) if timed else None


def table(document: dict[str, Any]) -> str:
    """Returns a Markdown table of all rows, what the library wins by most first, under how many it wins.

    A challenge of which one of our kernels has no time in its present form is named beneath, and not compared.
    """
    found = []
    unmeasured = []
    recorded = _recorded(document["device"]["name"])
    for slug, row in document["rows"].items():
        row = {**row, "times": {**recorded.get(slug, {}), **row["times"]}}
        pack = load_pack(ROOT / "challenges" / slug)
        library = fastest(row, [baseline.name for baseline in pack.baselines.calls])
        ours = fastest(row, list(OURS))
        there = {kernel for kernel in OURS if (ROOT / "reference_solutions" / slug / f"{kernel}.cu").exists()}
        if there - row["times"].keys():
            unmeasured.append(slug)
            continue
        if library is None or ours is None or min(library[1][1], ours[1][1]) <= 0:
            continue
        baseline = next(baseline for baseline in pack.baselines.calls if baseline.name == library[0])
        value, low, high = library[1]
        said = LibraryTime(baseline.name, baseline.library, baseline.conditions, value, low, high)
        ratio = speed(Interval(*ours[1]), said)
        plain = f"{row['times']['plain'][0] * 1e6:,.1f}" if "plain" in row["times"] else ""
        name = f"{said.library}, {said.conditions}" if said.conditions else said.library
        times = f"{said.value * 1e6:,.1f} | {plain} | {ours[1][0] * 1e6:,.1f}"
        found.append(
            (ratio, f"| {slug} | {name} | {times} | {ratio.value:.2f}× ({ratio.low:.2f} to {ratio.high:.2f}) |")
        )
    found.sort(key=lambda each: each[0].value)
    faster = sum(ratio.high < 1 for ratio, _ in found)
    slower = sum(ratio.low > 1 for ratio, _ in found)
    won = f"The library is faster in {faster} of {len(found)}, our best kernel in {slower}"
    head = f"{won}; the rest is too close to tell."
    lines = [
        head,
        "",
        "| Challenge | Library | Library, µs | Plain, µs | Our best, µs | Times as fast as it |",
    ]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
    lines += [cells for _, cells in found]
    if unmeasured:
        lines += ["", f"Changed since our kernels were timed, and not compared: {', '.join(sorted(unmeasured))}."]
    return "\n".join(lines)


def _recorded(device: str) -> dict[str, dict[str, list[float]]]:
    """Returns the times of our kernels that ``times/`` has for a device, by challenge and kernel, with an interval."""
    file = TIMES / f"{_key(device)}.json"
    found: dict[str, dict[str, list[float]]] = {}
    for name, row in json.loads(file.read_text())["kernels"].items() if file.exists() else ():
        slug, _, kernel = name.partition("/")
        if row["verdict"] == "AC" and row["metric"] == "time_s" and kernel.removesuffix(".cu") in OURS:
            half = max(row["spread"] or 0.0, MIN_RELATIVE_HALF_WIDTH) * row["value"]
            times = [row["value"], row["value"] - half, row["value"] + half]
            found.setdefault(slug, {})[kernel.removesuffix(".cu")] = times
    return found


def _key(device: str) -> str:
    return device.lower().replace(" ", "-")


def stored(document: dict[str, Any]) -> Path:
    """Returns where the rows of a device are kept."""
    return TIMES / "baselines" / f"{_key(document['device']['name'])}.json"


def merge(file: Path) -> None:
    """Adds the rows of a file to those of its device."""
    new = json.loads(file.read_text())
    kept = stored(new)
    if kept.exists():
        new["rows"] = {**json.loads(kept.read_text())["rows"], **new["rows"]}
    new["rows"] = dict(sorted(new["rows"].items()))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(new, indent=2) + "\n")


def rewrite_readme() -> None:
    """Writes the tables of all devices between the markers of the README."""
    readme = SOLUTIONS / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    parts = []
    for path in sorted((TIMES / "baselines").glob("*.json")):
        document = json.loads(path.read_text())
        said = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
        parts.append(f"**{document['device']['name']}** ({said}), {document['taken_at']}:\n\n{table(document)}")
    text = "\n\n".join(parts) or "None has been measured yet."
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("challenge", nargs="*", help="only these (default: all that name baselines)")
    parser.add_argument("--others", action="store_true", help="after those named, all others")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no challenge after so long")
    parser.add_argument("--budget", type=float, default=0.12, help="seconds of each round (default: %(default)s)")
    parser.add_argument("--builders", type=int, default=14, help="compilers at a time (default: %(default)s)")
    parser.add_argument(
        "--ours", action="store_true", help="build and time our kernels too; else those on record count"
    )
    parser.add_argument("--functional", action="store_true", help="check the libraries on all functional cases too")
    parser.add_argument("--unchecked", action="store_true", help="do not check the benchmark's outputs")
    parser.add_argument("--output", type=Path, help="a JSON file, written after each challenge")
    parser.add_argument("--merge", type=Path, help="add the rows of such a file to those on record; times nothing")
    parser.add_argument("--readme", action="store_true", help="write the README's table; times nothing")
    arguments = parser.parse_args()
    if arguments.merge or arguments.readme:
        if arguments.merge:
            merge(arguments.merge)
        rewrite_readme()
        return 0
    names = arguments.challenge
    if arguments.others or not names:
        every = [path.parent.name for path in sorted((ROOT / "challenges").glob("*/baselines.py"))]
        names = [*names, *(name for name in every if name not in names)]
    packs = [load_pack(ROOT / "challenges" / name) for name in names]
    packs = [dataclasses.replace(pack, reference=pack.reference.local()) for pack in packs]
    with tempfile.TemporaryDirectory(prefix="gpujudge-baselines-", ignore_cleanup_errors=True) as folder:
        bench = Bench(arguments, Path(folder))
        bench.run(packs)
        print("\n" + table(bench.document), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
