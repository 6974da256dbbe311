"""Writes ``challenges/medals.json``: the best share of the roofline that our own kernels reach, by challenge.

    python benchmarks/expected_verdicts.py --device emulator --solutions-only --record verdicts.jsonl
    python benchmarks/medals.py verdicts.jsonl

Modelled shares come from the recorded judgements, measured ones from ``reference_solutions/times/``; of these, those
of an H200, whose rooflines the table of the emulator's model gives. Of measured times on tensor cores none counts: the
calibration of that GPU has no bound for them. A challenge that is not in the record keeps its modelled share.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from emulator.model import load_gpu
from judge.bench.plausibility import modelled_roofline_s
from judge.bench.statistics import geometric_mean
from judge.judgement_json import read_judgement
from judge.packs.collection.loader import load_pack
from judge.packs.medals import NAME

ROOT = Path(__file__).resolve().parent.parent
GPU = "h200"
_NO_TENSOR_CORES = ("fp32", "fp64")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, help="judgements on the emulator, written by expected_verdicts.py")
    arguments = parser.parse_args()

    shares: dict[tuple[str, str], float] = {}
    for line in arguments.record.read_text().splitlines():
        row = json.loads(line)
        judgement = read_judgement(row["judgement"])
        name = row["key"].rsplit(" ", 1)[1].removeprefix("reference_solutions/")
        measurement = judgement.measurement
        if measurement is None or measurement.metric != "modelled_time_s" or measurement.roofline_share is None:
            continue
        if measurement.gpu != GPU:
            parser.error(f"{name} was judged for {measurement.gpu}: the medals are for {GPU}")
        shares[name, "modelled_time_s"] = measurement.roofline_share
    file = ROOT / "challenges" / NAME
    recorded = {name.partition("/")[0] for name, _ in shares}
    for slug, of_metric in json.loads(file.read_text()).items():
        if slug not in recorded and (kept := of_metric.get("modelled_time_s")):
            shares[f"{slug}/{kept['kernel']}", "modelled_time_s"] = kept["share"]
    measured = json.loads((ROOT / "reference_solutions" / "times" / "nvidia-h200.json").read_text())["kernels"]
    for name, row in measured.items():
        share = _measured_share(name.partition("/")[0], row["value"]) if row["verdict"] == "AC" else None
        if share is not None:
            shares[name, "time_s"] = share

    best: dict[str, dict[str, Any]] = {}
    for (name, metric), exact in sorted(shares.items()):
        slug, _, kernel = name.partition("/")
        share = float(f"{min(1.0, exact):.6g}")
        if share > best.setdefault(slug, {}).get(metric, {"share": 0.0})["share"]:
            best[slug][metric] = {"share": share, "kernel": kernel}
    text = json.dumps({slug: dict(sorted(best[slug].items())) for slug in sorted(best)}, indent=1)
    file.write_text(text + "\n")
    print(f"{len(best)} challenges, {sum(map(len, best.values()))} shares")


def _measured_share(slug: str, time_s: float) -> float | None:
    pack = load_pack(ROOT / "challenges" / slug)
    cases = pack.benchmarks_for("cuda")
    rooflines = [modelled_roofline_s(pack, case, load_gpu(GPU)) for case in cases]
    known = [roofline for roofline in rooflines if roofline is not None]
    if pack.bench.arithmetic not in _NO_TENSOR_CORES or len(known) < len(cases) or not cases:
        return None
    return geometric_mean(known) / time_s


if __name__ == "__main__":
    main()
