"""Measures how many kernels an hour a batch judges, with kernels of this repository.

    python benchmarks/batch_throughput.py --kernels 200
    python benchmarks/batch_throughput.py --kernels 200 --devices all --precision 2%

Takes reference solutions and the submissions of packs, right and wrong ones, in an order that the seed decides. Each
gets a comment of its own, so that no build is found in a cache. The judge's own libraries are made before. Prints the
rate, the processor time that each kernel took, and the load of the machine before and after: a rate means something on
a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ACCOUNTS = Path("/sys/fs/cgroup/cpuacct")


def collect(folder: Path, count: int, seed: int, solutions_only: bool) -> None:
    """Writes kernels into a folder, each in that of its challenge."""
    files = sorted(ROOT.glob("reference_solutions/*/*.cu"))
    if not solutions_only:
        files += sorted(ROOT.glob("challenges/*/submissions/*/*.cu"))
    random.Random(seed).shuffle(files)
    for number, file in enumerate(files[:count]):
        challenge = file.relative_to(ROOT).parts[1]
        target = folder / challenge / f"{number:03}-{file.name}"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes() + f"\n// {secrets.token_hex(8)}\n".encode())
        for header in file.parent.glob("*.cuh"):
            (target.parent / header.name).write_bytes(header.read_bytes())


@contextlib.contextmanager
def accounted() -> Iterator[Path | None]:
    """Counts the processor time of what is started inside, where there is such a controller and this is root."""
    group = _ACCOUNTS / f"batch-{os.getpid()}"
    try:
        group.mkdir()
        (group / "tasks").write_text(str(os.getpid()))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        (_ACCOUNTS / "tasks").write_text(str(os.getpid()))
        with contextlib.suppress(OSError):
            group.rmdir()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which, and in which order (default: %(default)s)")
    parser.add_argument("--solutions-only", action="store_true", help="leave out the packs' submissions")
    parser.add_argument("--devices", default="emulator", help="as of gpujudge judge (default: %(default)s)")
    parser.add_argument("--jobs", type=int, help="as of gpujudge judge")
    parser.add_argument("--precision", help="as of gpujudge judge")
    parser.add_argument("--untimed", action="store_true", help="as of gpujudge judge")
    parser.add_argument("--screen", help="as of gpujudge judge")
    parser.add_argument("--again", action="store_true", help="judge all twice: the second time no kernel is built")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpujudge-batch-") as scratch:
        folder, data_dir = Path(scratch) / "kernels", Path(scratch) / "data"
        folder.mkdir()
        collect(folder, given.kernels, given.seed, given.solutions_only)
        argv = [sys.executable, str(ROOT / "gpujudge.py"), "judge", str(folder), "--devices", given.devices]
        for name in ("jobs", "precision", "screen"):
            if (value := getattr(given, name)) is not None:
                argv += [f"--{name}", str(value)]
        argv += ["--untimed"] * given.untimed
        environment = {**os.environ, "GPUJUDGE_DATA_DIR": str(data_dir)}
        warm_up = [
            *argv[:2],
            "judge",
            "--untimed",
            str(ROOT / "reference_solutions/vector-add/plain.cu"),
            "-c",
            "vector-add",
        ]
        subprocess.run(warm_up, env=environment, check=True, stdout=subprocess.DEVNULL)
        for run in range(1 + given.again):
            out = Path(scratch) / f"{run}.jsonl"
            load = os.getloadavg()[0]
            with accounted() as group:
                started = time.monotonic()
                subprocess.run([*argv, "--jsonl", str(out)], env=environment, check=False)
                wall_s = time.monotonic() - started
                cpu_s = int((group / "cpuacct.usage").read_text()) * 1e-9 if group else 0.0
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            counts = Counter(line["verdict"] for line in lines)
            built_s = sum((line["judgement"] or {}).get("build", {}).get("wall_s", 0.0) for line in lines)
            judged_s = sum((line["judgement"] or {}).get("wall_s", 0.0) for line in lines)
            print(
                f"{len(lines)} kernels in {wall_s:.1f} s: {len(lines) / wall_s * 3600:,.0f} an hour"
                f" ({len(os.sched_getaffinity(0))} processors; load {load:.1f} before, {os.getloadavg()[0]:.1f} after)"
            )
            if group is not None:
                print(f"  processor time: {cpu_s:.0f} s, {cpu_s / len(lines):.2f} s a kernel")
            means = built_s / len(lines), judged_s / len(lines)
            print(f"  by the clock: builds {means[0]:.2f} s a kernel, judging {means[1]:.2f} s")
            print("  " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
            slowest = sorted(lines, key=lambda line: -(line["judgement"] or {}).get("wall_s", 0.0))[:5]
            for line in slowest:
                file = Path(line["file"]).relative_to(folder)
                print(f"  {line['judgement']['wall_s']:6.1f} s  {line['verdict']}  {file}")
    print(f"  memory at most: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10} MiB in one process")
    return 0


if __name__ == "__main__":
    sys.exit(main())
