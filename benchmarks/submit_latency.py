"""Measures the time from submission to verdict, over HTTP, through queue, build and run.

    python benchmarks/submit_latency.py
    python benchmarks/submit_latency.py --challenge reduction --device nvidia-h200 --json latency.json

Starts a stack of its own with a new data folder (as `gpujudge up` does) and sends the kernel, one time after the other,
following the events as the website does: ``--count`` times with another comment in it each time, so that no build is
reused, and as often with the same text each time, so that all are (``--builds`` says which of the two). ``--pause``
lets the worker get runners ready in between, as a queue that is mostly empty does. Prints the median and where the time
goes, by the server's own clock, and what is left when nvcc and the calls themselves are taken off; the first submission
is not counted (``--warm-up 0`` counts it).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.stack import running_stack  # noqa: E402
from cli.api import Api  # noqa: E402
from cli.follow import follow  # noqa: E402

#: The events that begin and end each stage.
STAGES = {
    "queued": ("queued", "building"),
    "build": ("building", "built"),
    "handed over": ("built", "running"),
    "cases": ("running", "timing"),
    "timing": ("timing", "done"),
}


@dataclass(frozen=True)
class Sample:
    """The times of one submission.

    ``total_s`` is measured by the client, and ``nvcc_s`` by the build. ``calls_s`` is the time of the calls: for
    functional cases from request to reply, for benchmark cases the whole timing.
    """

    total_s: float
    nvcc_s: float
    calls_s: float
    stages_s: dict[str, float]
    verdict: str
    message: str

    @property
    def rest_s(self) -> float:
        return self.total_s - self.nvcc_s - self.calls_s


def default_source(challenge: str) -> Path:
    """Returns the simplest accepted kernel of the challenge."""
    found = [
        *sorted((ROOT / "challenges" / challenge / "submissions" / "accepted").glob("*.cu")),
        *sorted((ROOT / "reference_solutions" / challenge).glob("*.cu")),
    ]
    if not found:
        raise SystemExit(f"no accepted submission of {challenge} to send: name one with --file")
    return found[0]


def submit_once(client: httpx.Client, api: Api, body: dict[str, Any], builds: str) -> Sample:
    """Submits once: a source unlike every other (``new`` builds), or the same again (``cached``)."""
    source = body["source"] if builds == "cached" else f"// {uuid.uuid4()}\n{body['source']}"
    begun = time.monotonic()
    answer = client.post("submissions", json={**body, "source": source})
    answer.raise_for_status()
    public_id = answer.json()["id"]
    for _event in follow(api, public_id):
        pass
    total_s = time.monotonic() - begun
    status = client.get(f"submissions/{public_id}").json()
    events = client.get(f"submissions/{public_id}/events").json()
    judgement = status["judgement"]
    if judgement is None:
        raise SystemExit(f"submission {public_id} was {status['state']}")
    calls_s = sum(case["wall_s"] for case in judgement["cases"])
    return Sample(
        total_s, judgement["build"]["wall_s"], calls_s, stages(events), status["verdict"], judgement["message"]
    )


def stages(events: list[dict[str, Any]]) -> dict[str, float]:
    """Returns how long each stage took, from the first event of each kind."""
    at: dict[str, datetime] = {}
    for event in events:
        at.setdefault(event["kind"], datetime.fromisoformat(event["at"]))
    return {
        name: (at[end] - at[begin]).total_seconds()
        for name, (begin, end) in STAGES.items()
        if begin in at and end in at
    }


def report(samples: list[Sample], challenge: str, device: str, builds: str, pause_s: float) -> dict[str, Any]:
    """Returns the figures of one kind of builds."""
    totals = sorted(sample.total_s for sample in samples)
    names = [name for name in STAGES if all(name in sample.stages_s for sample in samples)]
    return {
        "challenge": challenge,
        "device": device,
        "builds": builds,
        "pause_s": pause_s,
        "cores": len(os.sched_getaffinity(0)),
        "machine": platform.platform(),
        "count": len(samples),
        "median_s": statistics.median(totals),
        "fastest_s": totals[0],
        "slowest_s": totals[-1],
        "nvcc_median_s": statistics.median(sample.nvcc_s for sample in samples),
        "calls_median_s": statistics.median(sample.calls_s for sample in samples),
        "rest_median_s": statistics.median(sample.rest_s for sample in samples),
        "stages_median_s": {name: statistics.median(sample.stages_s[name] for sample in samples) for name in names},
        "verdicts": sorted({sample.verdict for sample in samples}),
        "samples": [asdict(sample) for sample in samples],
    }


def show(figures: dict[str, Any]) -> None:
    """Prints the figures."""
    print(
        f"{figures['challenge']} on {figures['device']}, {figures['count']} times, {figures['cores']} cores, "
        f"builds {figures['builds']}, {figures['pause_s']:g} s between two"
    )
    print(
        f"from Submit to the verdict: median {figures['median_s']:.2f} s "
        f"({figures['fastest_s']:.2f} to {figures['slowest_s']:.2f} s)"
    )
    for name, wall_s in figures["stages_median_s"].items():
        print(f"  {name:<12}{wall_s:6.2f} s")
    print(f"  of these, nvcc and its jail: {figures['nvcc_median_s']:.2f} s; calls: {figures['calls_median_s']:.2f} s; "
          f"the rest: {figures['rest_median_s']:.2f} s", flush=True)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--challenge", default="reduction")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two (default: %(default)s)")
    parser.add_argument("--builds", choices=("new", "cached", "both"), default="both")
    parser.add_argument("--file", type=Path, help="the kernel; else the challenge's own plainest one")
    parser.add_argument("--json", type=Path, help="write all figures there")
    arguments = parser.parse_args()
    source = (arguments.file or default_source(arguments.challenge)).read_text("utf-8")
    body = {"challenge": arguments.challenge, "device": arguments.device, "mode": "submit", "source": source}
    kinds = ("new", "cached") if arguments.builds == "both" else (arguments.builds,)
    reports = []
    with (
        tempfile.TemporaryDirectory(prefix="gpujudge-latency-") as folder,
        running_stack(Path(folder)) as stack,
        stack.client() as client,
        Api(stack.address, stack.token) as api,
    ):
        for builds in kinds:
            samples = []
            for number in range(arguments.warm_up + arguments.count):
                time.sleep(arguments.pause)
                sample = submit_once(client, api, body, builds)
                place = number + 1 - arguments.warm_up
                print(f"{builds} {place:3d}  {sample.total_s:6.2f} s, neither nvcc nor calls {sample.rest_s:.2f} s  "
                      f"{sample.verdict} {sample.message}", file=sys.stderr)  # fmt: skip
                if number >= arguments.warm_up:
                    samples.append(sample)
            reports.append(report(samples, arguments.challenge, arguments.device, builds, arguments.pause))
            show(reports[-1])
    if arguments.json:
        arguments.json.write_text(json.dumps(reports, indent=2) + "\n")
    return 0 if all(figures["verdicts"] == ["AC"] for figures in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
