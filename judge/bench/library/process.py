"""Runs the process that calls libraries, and makes times of what it finds, as a score is made of three processes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from judge.bench.library.record import LibraryTime, versions
from judge.bench.statistics import PROCESSES, between_processes, geometric_mean
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack

_SERVER = "judge.bench.library.server"
#: How long it may take to come up and check all cases, and how long a round may.
_CHECK_S, _ROUND_S = 300.0, 120.0
_BUDGET_S = 2.0


class LibraryProcess:
    """The process of one pack on one GPU, which nobody else uses meanwhile. Use it as a context manager.

    ``kernels`` are the judge's own, compiled for the GPU; ``folder`` keeps what ``torch.compile`` makes. Opening it
    raises InternalError where the libraries cannot be called here: they are not installed, or none of the card's memory
    is left.
    """

    def __init__(self, pack: Pack, device: DeviceInfo, kernels: Path, folder: Path, seed: int) -> None:
        self._pack, self._device = pack, device
        self._rounds: list[dict[str, Any]] = []
        request = {
            "folder": str(pack.directory),
            "ordinal": int(device.details.get("ordinal", 0)),
            "kernels": str(kernels),
            "seed": seed,
        }
        home = Path(__file__).resolve().parents[3]
        paths = [str(home), *(entry for entry in sys.path if entry and Path(entry).is_absolute())]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", _SERVER, json.dumps(request)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _compiling_in(folder) | {"PYTHONPATH": os.pathsep.join(paths)},
            cwd="/",
            start_new_session=True,
        )
        try:
            self._refused: Mapping[str, str] = self._answer(_CHECK_S)["refused"]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> LibraryProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def round(self, budget_s: float = _BUDGET_S) -> None:
        """Times all baselines that are right once more, in buffers of their own. Raises InternalError."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"budget_s": budget_s}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise InternalError(f"the process that calls libraries ended: {error}") from None
        self._rounds.append(self._answer(_ROUND_S))

    def times(self) -> tuple[LibraryTime, ...]:
        """Returns the times of three rounds, in the pack's order. Raises ValueError for any other number of rounds."""
        return library_times(self._pack, self._device, self._refused, self._rounds)

    def close(self) -> None:
        """Ends the process. Idempotent."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue

    def _answer(self, within_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], within_s)[0]:
            raise InternalError(f"the libraries of {self._pack.slug} do not answer within {within_s:g} s")
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise InternalError(
                f"the process that calls the libraries of {self._pack.slug} ended with exit status {code}",
                "see that PyTorch works on this GPU: python -c 'import torch; torch.zeros(1).cuda()'",
            )
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise InternalError(f"the libraries of {self._pack.slug} cannot be called: {answer['problem']}")
        return answer


def _compiling_in(folder: Path) -> dict[str, str]:
    """Returns the environment in which ``torch.compile`` keeps kernels in ``folder`` and starts no processes."""
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


def library_times(
    pack: Pack, device: DeviceInfo, refused: Mapping[str, str], rounds: Sequence[Mapping[str, Any]]
) -> tuple[LibraryTime, ...]:
    """Returns a time for each baseline of a pack, made of three rounds; one that is refused has its problem instead.

    A round's value is the geometric mean of its cases' medians, and the score is the median of the rounds', with the
    interval by how much they differ (``judge.bench.statistics.between_processes``).
    """
    found = []
    seen = {"driver": str(device.details.get("driver", "")), **versions()}
    for baseline in pack.baselines.calls:
        labels = baseline.name, baseline.library, baseline.conditions
        if problem := refused.get(baseline.name, ""):
            found.append(LibraryTime(*labels, problem=problem, versions=seen))
            continue
        each = [one[baseline.name] for one in rounds]
        values = [geometric_mean([case["median"] for case in one.values()]) for one in each]
        error = max((case["error"] for one in each for case in one.values()), default=0.0)
        score = between_processes(values, error)
        if score.low <= 0:
            told = ", ".join(f"{value * 1e6:.1f}" for value in values)
            problem = f"the baseline {baseline.name} of {pack.slug} has no steady time: {told} µs in three rounds"
            found.append(LibraryTime(*labels, problem=problem, versions=seen))
            continue
        cases = {case: sorted(one[case]["median"] for one in each)[PROCESSES // 2] for case in each[0]}
        found.append(LibraryTime(*labels, score.value, score.low, score.high, versions=seen, cases=cases))
    return tuple(found)
