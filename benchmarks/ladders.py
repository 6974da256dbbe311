"""Judges the ladders of kernels on the emulator, and writes ``docs/ladders.md`` with the modelled time of each step.

    python benchmarks/ladders.py

A ladder is ``reference_solutions/SLUG/ladder/``: kernels from the first idea to a fast one, and ``ladder.toml`` with a
sentence for each on what it changes. Exits with 1 when a kernel is not accepted, and says which.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from pathlib import Path

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.loader import load_pack
from judge.settings import JudgeSettings

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ladders.md"
HEAD = """# Ladders

Some challenges have a ladder: kernels from the first idea to a fast one, each of which changes one thing. All are
accepted. Times are modelled for an H200 on the challenge's benchmark for the emulator, by
`python benchmarks/ladders.py`, which writes this page. A gain below 1 is a loss on that case, which is small.
"""


def main() -> int:
    parts = [HEAD]
    with tempfile.TemporaryDirectory(prefix="gpujudge-ladders-") as data_dir:
        settings = JudgeSettings(data_dir=Path(data_dir))
        device = BUILTIN_BACKENDS.find_device("emulator", settings)
        for file in sorted((ROOT / "reference_solutions").glob("*/ladder/ladder.toml")):
            slug = file.parent.parent.name
            pack = load_pack(ROOT / "challenges" / slug)
            rows, before = [], None
            for step in tomllib.loads(file.read_text())["steps"]:
                source = file.parent / f"{step['kernel']}.cu"
                judgement = pipeline.judge(source.read_bytes(), pack, device, 1, settings)
                if judgement.measurement is None:
                    print(f"{source}: {judgement.verdict} {judgement.message}", file=sys.stderr)
                    return 1
                seconds = judgement.measurement.value
                gain = "" if before is None else f"{before / seconds:.2f}×"
                link = f"[{step['kernel']}](../{source.relative_to(ROOT)})"
                rows.append(f"| {link} | {step['change']} | {1e6 * seconds:,.2f} µs | {gain} |")
                print(f"{slug}: {step['kernel']} {1e6 * seconds:.2f} µs", flush=True)
                before = seconds
            table = ["| Step | What it changes | Time | Gain |", "| --- | --- | ---: | ---: |", *rows]
            parts.append(f"\n## {pack.title}\n\n" + "\n".join(table) + "\n")
    PAGE.write_text("".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
