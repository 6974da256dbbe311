"""Stands in for ``judge.batch.worker``: does what a kernel's source says, and writes down what it was asked."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

LOG = Path(os.environ["FAKE_WORKER_LOG"])


def first_time(name: str) -> bool:
    try:
        (LOG.parent / f"seen-{name}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def answer(request: dict[str, object]) -> dict[str, object]:
    source, device = str(request["source"]), request["device"]
    assert isinstance(device, dict)
    with LOG.open("a") as log:
        log.write(f"{request['do']} {request['mode']} {device['key']} {source}\n")
    name, _, what = source.partition(":")
    if request["do"] in ("build null", "time null"):
        return {"built": True}
    if what == "dies" or (what == "dies once" and first_time(name)):
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "unknown":
        return {"unusable": "there is no such challenge"}
    if (LOG.parent / f"lost-{device['key']}").exists() and request["do"] == "judge":
        return {"lost": "the driver reported Xid 79"}
    if what == "fails once" and request["do"] == "judge" and first_time(name):
        return {"judgement": {"verdict": "IE", "message": "the device is gone"}}
    if what.startswith("meets ") and request["do"] == "judge":
        (LOG.parent / f"met-{name}").touch()
        until = time.monotonic() + 60
        while not (LOG.parent / f"met-{what.removeprefix('meets ')}").exists():
            if time.monotonic() > until:
                return {"judgement": {"verdict": "TLE", "message": "nobody came"}}
            time.sleep(0.01)
    if what == "does not compile":
        return {"judgement": {"verdict": "CE", "message": "expected a ;"}}
    if request["do"] == "build":
        return {"built": True}
    if what == "races" and device["kind"] == "emulator":
        return {"judgement": {"verdict": "WA", "message": "a race"}}
    if what == "needs a GPU" and device["kind"] == "emulator":
        return {"judgement": {"verdict": "RE", "message": "not supported by the emulator: wgmma"}}
    return {"judgement": {"verdict": "AC", "message": "", "seed": request["seed"]}}


sys.stdin.readline()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
