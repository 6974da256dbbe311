"""Judges every pack's ``submissions/`` and ``reference_solutions/`` and compares verdicts with the expected ones.

    python benchmarks/expected_verdicts.py --device emulator
    python benchmarks/expected_verdicts.py --device cuda:0 --json verdicts.json

The expected verdict is the folder's name, narrowed by a first-line ``// expect: verdict=...`` comment; reference
solutions are expected to be accepted. Prints one line a file; exits with 1 when any verdict differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement_json import to_json
from judge.packs.loader import load_pack
from judge.packs.pack import Pack
from judge.packs.verify import listed_submissions
from judge.settings import JudgeSettings
from judge.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent


def corpus(pack: Pack) -> Iterator[tuple[Path, frozenset[Verdict]]]:
    """Yields a pack's files, each with the verdicts that it may get."""
    for submission in listed_submissions(pack):
        yield submission.path, frozenset(submission.verdicts)
    for path in sorted((ROOT / "reference_solutions" / pack.slug).glob("*.cu")):
        yield path, frozenset({Verdict.ACCEPTED})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="emulator", help="emulator, cuda:0, ... (default: %(default)s)")
    parser.add_argument("--challenge", action="append", help="only this one (may be repeated)")
    parser.add_argument("--json", type=Path, help="write all judgements there")
    arguments = parser.parse_args()

    judgements = {}
    differing = []
    with tempfile.TemporaryDirectory(prefix="gpujudge-verdicts-") as data_dir:
        settings = JudgeSettings(data_dir=Path(data_dir))
        device = BUILTIN_BACKENDS.find_device(arguments.device, settings)
        for folder in sorted(path.parent for path in (ROOT / "challenges").glob("*/challenge.toml")):
            if arguments.challenge and folder.name not in arguments.challenge:
                continue
            pack = load_pack(folder)
            for path, expected in corpus(pack):
                started = time.monotonic()
                judgement = pipeline.judge(path.read_bytes(), pack, device, 1, settings)
                name = str(path.relative_to(ROOT))
                judgements[name] = to_json(judgement)
                right = judgement.verdict in expected
                wanted = "" if right else f"  expected {'/'.join(sorted(expected))}: {judgement.message}"
                mark, wall_s = "ok " if right else "BAD", time.monotonic() - started
                print(f"{mark} {judgement.verdict} {wall_s:6.2f} s  {name}{wanted}", flush=True)
                if not right:
                    differing.append(name)
    if arguments.json:
        arguments.json.write_text(json.dumps(judgements, indent=1))
    print(f"{len(judgements)} judged on {device.name}, {len(differing)} with another verdict than expected")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
