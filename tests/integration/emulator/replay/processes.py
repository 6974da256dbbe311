"""The two processes of a test: one runs a program and records it, the other has its file only, and does it again.

python -m tests.integration.emulator.replay.processes record|replay LIBRARY PROGRAM FOLDER [FUNCTION]
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

import numpy as np

from emulator import CudaError, Runtime
from emulator.replay.recorder import Recorder
from emulator.replay.recording import Recording, RecordingError
from emulator.replay.replay import Replay

N = 1000
_MOST_BYTES = 1 << 20


def inputs() -> np.ndarray:
    return np.random.default_rng(7).uniform(0.5, 1, N).astype(np.float32)


def record(runtime: Runtime, program: Path, folder: Path, function: str) -> dict[str, object]:
    recorder = Recorder(runtime, most_bytes=_MOST_BYTES)
    solve = getattr(ctypes.CDLL(str(program)), function)
    given, out = (runtime.malloc(4 * N, label=name) for name in ("in", "out"))
    runtime.view(given, 4 * N)[:] = inputs().tobytes()
    with runtime.shielded():
        solve(ctypes.c_void_p(given), ctypes.c_void_p(out), N)
    runtime.synchronize()
    (folder / "recording").write_bytes(recorder.take().pack())
    return {"addresses": [given, out], "values": bytes(runtime.view(out, 4 * N)).hex()}


def replay(runtime: Runtime, program: Path, folder: Path) -> dict[str, object]:
    addresses = json.loads((folder / "recorded.json").read_text())["addresses"]
    given, out = (runtime.malloc(4 * N, label=name, at=at) for name, at in zip(("in", "out"), addresses, strict=True))
    runtime.view(given, 4 * N)[:] = inputs().tobytes()
    recording = Recording.unpack((folder / "recording").read_bytes())
    again = Replay(runtime, recording, program.read_bytes())
    again.run()
    runtime.synchronize()
    transfers = {name: getattr(again.transfers, name) for name in again.transfers.__slots__}
    return {"values": bytes(runtime.view(out, 4 * N)).hex(), "transfers": transfers}


def main(what: str, library: str, program: str, folder: str, *function: str) -> None:
    runtime = Runtime(library=Path(library), threads=2, profile=what == "replay")
    answer: dict[str, object] = {}
    try:
        do = record if what == "record" else replay
        answer = do(runtime, Path(program), Path(folder), *function)
    except (CudaError, RecordingError) as error:
        answer["error"] = str(error)
    report = runtime.take_report()
    answer |= {
        "launches": [
            [launch.kernel, launch.grid, launch.block, launch.warp_instructions] for launch in report.launches
        ],
        "findings": [finding.message for finding in report.findings],
    }
    (Path(folder) / f"{what}ed.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
