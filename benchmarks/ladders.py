"""Judges the ladders of kernels on the emulator, and writes what each step gains.

    python benchmarks/ladders.py
    python benchmarks/ladders.py --challenge matmul --again

A ladder is ``reference_solutions/SLUG/ladder/``: ``ladder.toml`` names kernels from the first idea to a fast one, with
a sentence for each on what it changes; ``../plain`` is the kernel that lies beside the folder. Modelled times go to
``times.json`` beside ``ladder.toml``, from which the website shows them, and to ``docs/ladders.md``. Only kernels that
are new or have changed, or whose pack has, are judged, or all with ``--again``. Measured times are those of
``reference_solutions/times/``, as far as there are any. Exits with 1 when a kernel is not accepted, and says which.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emulator.model import load_gpu
from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.settings import JudgeSettings

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "reference_solutions"
MEASURED = SOLUTIONS / "times" / "nvidia-h200.json"
PAGE = ROOT / "docs" / "ladders.md"
HEAD = """# Ladders

Some challenges have a ladder: kernels from the first idea to a fast one, each of which changes one thing. All are
accepted. Modelled times are the emulator's, for an H200, on the challenge's benchmark for the emulator; measured ones
are an H200's, on its benchmark for GPUs, which is far larger. So the two cannot be compared with each other, only
steps with the step before: a gain below 1 is a loss on that case. The small case hides what only pays when the whole
GPU is busy, such as large tiles. `python benchmarks/ladders.py` writes this page.
"""
COLUMNS = "| Step | What it changes | Modelled | Gain | Measured | Gain |\n| --- | --- | ---: | ---: | ---: | ---: |\n"


@dataclass
class Times:
    """The modelled times of a ladder, as ``times.json`` has them: for each kernel, and of which source and pack."""

    file: Path
    gpu: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, ladder: Path) -> Times:
        """Reads the file of a ladder, if there is one yet."""
        file = ladder / "times.json"
        return cls(file, **json.loads(file.read_text())) if file.exists() else cls(file)

    def write(self, kernels: list[str]) -> None:
        """Writes the figures of the kernels."""
        known = [kernel for kernel in kernels if kernel in self.seconds]
        document = {
            "gpu": self.gpu,
            "seconds": {kernel: self.seconds[kernel] for kernel in known},
            "versions": {kernel: self.versions[kernel] for kernel in known},
        }
        self.file.write_text(json.dumps(document, indent=1) + "\n")


def judge(
    ladder: Path, steps: dict[str, str], pack: Pack, device: DeviceInfo, settings: JudgeSettings, *, again: bool
) -> None:
    """Judges the kernels of a ladder whose times are not known, or all of them ``again``."""
    times = Times.read(ladder)
    for kernel in steps:
        source = (ladder / f"{kernel}.cu").read_bytes()
        versions = [hashlib.sha256(source).hexdigest()[:16], pack.digest[:16]]
        if times.versions.get(kernel) == versions and not again:
            continue
        judgement = pipeline.judge(source, pack, device, 1, settings)
        if judgement.measurement is None:
            times.seconds.pop(kernel, None)
            print(f"{pack.slug}: {kernel}: {judgement.verdict} {judgement.message}", file=sys.stderr, flush=True)
            continue
        times.gpu = load_gpu(judgement.measurement.gpu or "").name
        times.seconds[kernel], times.versions[kernel] = judgement.measurement.value, versions
        print(f"{pack.slug}: {kernel} {1e6 * times.seconds[kernel]:.2f} µs", flush=True)
        times.write(list(steps))
    times.write(list(steps))


def cells(times: list[float | None]) -> list[str]:
    """Returns two cells for each step: its time, and its gain over the step before."""
    row, before = [], None
    for time in times:
        gain = f"{before / time:.2f}×" if before and time else ""
        row.append(f"{f'{1e6 * time:,.2f} µs' if time else 'not measured yet'} | {gain}")
        before = time
    return row


def section(ladder: Path, steps: dict[str, str], pack: Pack, measured: dict[str, dict[str, Any]]) -> str:
    """Returns the part of the page about one ladder."""
    seconds = Times.read(ladder).seconds
    sources = [(ladder / f"{kernel}.cu").resolve() for kernel in steps]
    rows = [measured.get(str(source.relative_to(SOLUTIONS)), {}) for source in sources]
    modelled = cells([seconds[kernel] for kernel in steps])
    on_gpu = cells([row.get("value") for row in rows])
    lines = [
        f"| [{source.stem}](../{source.relative_to(ROOT)}) | {change} | {one} | {other} |\n"
        for source, change, one, other in zip(sources, steps.values(), modelled, on_gpu, strict=True)
    ]
    return f"\n## {pack.title}\n\n{COLUMNS}{''.join(lines)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--challenge", action="append", help="judge only kernels of this one (may be repeated)")
    parser.add_argument("--again", action="store_true", help="also judge kernels that have not changed")
    parser.add_argument("--data-dir", type=Path, help="where the emulator was built, so as not to build it again")
    arguments = parser.parse_args()
    measured = json.loads(MEASURED.read_text())["kernels"]
    page, missing = HEAD, []
    with tempfile.TemporaryDirectory(prefix="gpujudge-ladders-") as data_dir:
        settings = JudgeSettings(data_dir=arguments.data_dir or Path(data_dir))
        device = BUILTIN_BACKENDS.find_device("emulator", settings)
        for ladder in sorted(file.parent for file in SOLUTIONS.glob("*/ladder/ladder.toml")):
            slug = ladder.parent.name
            pack = load_pack(ROOT / "challenges" / slug)
            document = tomllib.loads((ladder / "ladder.toml").read_text())
            steps: dict[str, str] = {step["kernel"]: step["change"] for step in document["steps"]}
            if not arguments.challenge or slug in arguments.challenge:
                judge(ladder, steps, pack, device, settings, again=arguments.again)
            if steps.keys() == Times.read(ladder).seconds.keys():
                page += section(ladder, steps, pack, measured)
            else:
                missing.append(slug)
    PAGE.write_text(page)
    if missing:
        print(f"left out, as kernels are not accepted or not judged yet: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
