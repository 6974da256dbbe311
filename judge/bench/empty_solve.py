"""What bursts take whose ``solve`` does nothing: what the clock sees that is not the submission's.

The pack's starter is built and timed by the same protocol in a process of its own, where nobody has reason to lie. The
line is kept for an hour for each device, driver, pack, case and version of the judge.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from judge import __version__
from judge.bench.clock_bound import Burst, Empty, Line, measure_empty
from judge.devices.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack

_KEPT_S = 3600.0
#: Counts up when the protocol changes so that older lines no longer hold.
_VERSION = 8


@dataclass
class EmptySolve:
    """``measure`` times the bursts of a case, process by process; ``folder`` is where lines are kept; ``now`` is the
    time of day."""

    pack: Pack
    device: DeviceInfo
    folder: Path
    measure: Callable[[Case], Sequence[Sequence[Burst]]]
    now: Callable[[], float] = time.time
    _found: dict[str, Empty] = field(default_factory=dict)

    def of(self, case: Case) -> Empty:
        """What is kept, if it is young, else measured now. Raises what ``measure`` raises."""
        if case.id not in self._found:
            kept = self._load(case)
            self._found[case.id] = kept if kept is not None else self.measure_again(case)
        return self._found[case.id]

    def measure_again(self, case: Case) -> Empty:
        """Measured now, whatever is kept."""
        found = self._found[case.id] = measure_empty(self.measure(case))
        self._store(case, found)
        return found

    def _path(self, case: Case) -> Path:
        names = (_VERSION, __version__, self.device.details.get("driver", ""), self.pack.digest, case.id)
        digest = hashlib.sha256("\0".join(str(name) for name in names).encode()).hexdigest()[:24]
        return self.folder / f"{device_hash(self.device)}-{digest}.json"

    def _load(self, case: Case) -> Empty | None:
        try:
            found = json.loads(self._path(case).read_text())
            line = Line(float(found["once_s"]), float(found["each_s"]), float(found["error_s"]))
            kept = Empty(line, float(found["claim_s"]), float(found["beside_s"]))
            age_s = self.now() - float(found["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return kept if 0 <= age_s < _KEPT_S else None

    def _store(self, case: Case, found: Empty) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".line.", dir=self.folder)
        with os.fdopen(handle, "w") as file:
            others = {"at": self.now(), "claim_s": found.claim_s, "beside_s": found.beside_s}
            json.dump({**others, **dataclasses.asdict(found.line)}, file)
        Path(temporary).replace(self._path(case))
