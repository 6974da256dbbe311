"""Times the reference solutions on a device and writes the table for ``reference_solutions/README.md``.

    python benchmarks/reference_solutions.py --device cuda:0 --repeat 3
    python benchmarks/reference_solutions.py --merge verdicts.jsonl

Every kernel is judged as a submission is, in a fresh process each time: built, checked on all cases, timed on the
pack's benchmark cases with the outputs of timed calls checked. What is written, per device, is
``reference_solutions/times/<device>.json``: each kernel's verdict and figures, and the device's fingerprint; the tables
in ``reference_solutions/README.md`` are made anew from all such files. Exits with 1 when a kernel is not accepted, and
says which. With ``--merge``, nothing is judged: what ``benchmarks/expected_verdicts.py --record`` wrote is added.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.required import architecture_for, unmet
from judge.judgement import DeviceInfo, Judgement
from judge.judgement_json import read_judgement
from judge.measurements import Measurement
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "reference_solutions"
BEGIN, END = "<!-- times -->", "<!-- end of times -->"


def measure(source: Path, pack: Pack, device: DeviceInfo, settings: JudgeSettings, repeat: int) -> dict[str, Any]:
    """Judges one kernel ``repeat`` times with different seeds and reports the judgement with the median score."""
    judgements: list[Judgement] = []
    for seed in range(1, repeat + 1):
        judgement = pipeline.judge(source.read_bytes(), pack, device, seed, settings)
        judgements.append(judgement)
        if judgement.verdict is not Verdict.ACCEPTED:
            return {"verdict": judgement.verdict.value, "message": judgement.message}
    values = [judgement.measurement.value for judgement in judgements if judgement.measurement]
    middle = statistics.median_low(values)
    measurement = next(j.measurement for j in judgements if j.measurement and j.measurement.value == middle)
    return {
        **_row(measurement, values),
        "registers": judgements[-1].build.registers,
        "judged_in_s": [round(judgement.wall_s, 2) for judgement in judgements],
    }


def _row(measurement: Measurement, values: list[float]) -> dict[str, Any]:
    return {
        "verdict": Verdict.ACCEPTED.value,
        "metric": measurement.metric,
        "value": measurement.value,
        "values": values,
        "spread": measurement.spread,
        "gb_per_s": measurement.gb_per_s,
        "gflop_per_s": measurement.gflop_per_s,
    }


def _device_row(device: DeviceInfo) -> dict[str, Any]:
    identity = {"key": device.key, "name": device.name, "compute_capability": device.compute_capability}
    return {**identity, **device.details}


def merge(record: Path) -> None:
    """Adds the accepted solutions of a record of ``benchmarks/expected_verdicts.py`` to their devices' files."""
    for line in record.read_text().splitlines():
        entry = json.loads(line)
        judgement, path = read_judgement(entry["judgement"]), Path(entry["key"].split()[-1])
        if path.parts[0] != SOLUTIONS.name or judgement.verdict is not Verdict.ACCEPTED or not judgement.measurement:
            continue
        written = SOLUTIONS / "times" / f"{judgement.device.key}.json"
        if written.exists():
            document = json.loads(written.read_text())
        else:
            document = {"device": _device_row(judgement.device), "kernels": {}}
        document = {**document, "taken_at": datetime.now(UTC).date().isoformat()}
        document["kernels"][str(path.relative_to(SOLUTIONS.name))] = {
            **_row(judgement.measurement, [judgement.measurement.value]),
            "registers": judgement.build.registers,
            "judged_in_s": [judgement.wall_s],
        }
        document["kernels"] = dict(sorted(document["kernels"].items()))
        written.write_text(json.dumps(document, indent=2) + "\n")


def table(document: dict[str, Any]) -> str:
    """Returns the kernels of one device as a Markdown table, under a line that names the device.

    Steps of ladders are left out: ``docs/ladders.md`` has them.
    """
    device = document["device"]
    head = f"{device['name']}, compute capability {device['compute_capability']}"
    if "driver" in device:
        cuda = f"{device['cuda_driver'] // 1000}.{device['cuda_driver'] % 1000 // 10}"
        head += f", driver {device['driver']} (CUDA {cuda}), up to {device['max_clock_mhz']} MHz"
    lines = [f"**{head}**, {document['taken_at']}:", "", "| Kernel | Score | Spread | GB/s | GFLOP/s |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for name, row in document["kernels"].items():
        if row["verdict"] != Verdict.ACCEPTED.value or "/ladder/" in name:
            continue
        timed = row["metric"] == "time_s"
        score = f"{row['value'] * 1e6:,.1f} µs" if timed else f"{row['value']:,.0f} warp instructions"
        rates = [f"{row[rate]:,.0f}" if row[rate] else "" for rate in ("gb_per_s", "gflop_per_s")]
        spread = "" if row["spread"] is None else f"{row['spread']:.1%}"
        lines.append(f"| {name} | {score} | {spread} | {rates[0]} | {rates[1]} |")
    return "\n".join(lines)


def rewrite_tables() -> None:
    """Writes the tables of ``times/`` between the markers of the README, but for modelled times, of no device."""
    readme = SOLUTIONS / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    _, after = rest.split(END)
    documents = [json.loads(path.read_text()) for path in sorted((SOLUTIONS / "times").glob("*.json"))]
    tables = "\n\n".join(table(document) for document in documents if "device" in document)
    readme.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="emulator", help="emulator, cuda:0, ... (default: %(default)s)")
    parser.add_argument("--challenge", action="append", help="only this one (may be repeated)")
    parser.add_argument("--repeat", type=int, default=3, help="judgements per kernel (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=SOLUTIONS / "times", help="the folder to write to")
    parser.add_argument("--merge", type=Path, help="add what expected_verdicts.py recorded, and judge nothing")
    arguments = parser.parse_args()
    if arguments.merge:
        merge(arguments.merge)
        rewrite_tables()
        return 0

    with tempfile.TemporaryDirectory(prefix="gpujudge-benchmark-") as data_dir:
        settings = JudgeSettings(data_dir=Path(data_dir))
        device = BUILTIN_BACKENDS.find_device(arguments.device, settings)
        target = BUILTIN_BACKENDS.of(device.kind).target(device)
        rows: dict[str, dict[str, Any]] = {}
        for folder in sorted(path for path in SOLUTIONS.iterdir() if (ROOT / "challenges" / path.name).is_dir()):
            if arguments.challenge and folder.name not in arguments.challenge:
                continue
            pack = load_pack(ROOT / "challenges" / folder.name)
            for source in sorted([*folder.glob("*.cu"), *folder.glob("ladder/*.cu")]):
                text = source.read_bytes()
                if why := unmet(text, architecture_for(text, target)):
                    print(f"{source.relative_to(SOLUTIONS)}: left out: {why}", flush=True)
                    continue
                row = measure(source, pack, device, settings, arguments.repeat)
                name = str(source.relative_to(SOLUTIONS))
                rows[name] = row
                print(f"{name}: {json.dumps(row)}", flush=True)

    arguments.output.mkdir(parents=True, exist_ok=True)
    written = arguments.output / f"{device.key}.json"
    document = {
        "taken_at": datetime.now(UTC).date().isoformat(),
        "device": _device_row(device),
        "kernels": rows,
    }
    written.write_text(json.dumps(document, indent=2) + "\n")
    if arguments.output == SOLUTIONS / "times":
        rewrite_tables()
    rejected = [name for name, row in rows.items() if row["verdict"] != Verdict.ACCEPTED.value]
    if rejected:
        print(f"not accepted: {', '.join(rejected)}", file=sys.stderr)
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
