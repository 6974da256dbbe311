"""The kernels that a batch takes and the results that it returns: plain data, which crosses processes as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any

from judge.judgement import DeviceInfo
from judge.verdict import Verdict
from records import dataclass

#: The exit code of what is not a kernel, or names no challenge.
_UNUSABLE = 2


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel to judge.

    ``name`` is whatever its owner knows it by; ``seed`` None is the batch's, and ``language`` None the challenge's
    usual one.
    """

    name: str
    challenge: str
    source: bytes
    seed: int | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one kernel: the JSON of its judgement, or the reason why there is none (``problem``).

    ``device`` is the name that users type. A kernel that the emulator refused as a filter has ``screened``. ``verdict``
    is None where the file is not a kernel or its challenge is unknown.
    """

    kernel: Kernel
    device: str = ""
    verdict: Verdict | None = None
    seed: int | None = None
    judgement: dict[str, Any] | None = None
    screened: bool = False
    problem: str = ""

    @property
    def exit_code(self) -> int:
        """The exit code of the command line for this kernel alone."""
        return _UNUSABLE if self.verdict is None else self.verdict.exit_code

    def to_json(self) -> dict[str, Any]:
        """Returns the result as JSON, without its name."""
        judgement = self.judgement or {}
        return {
            "challenge": self.kernel.challenge,
            "verdict": None if self.verdict is None else self.verdict.value,
            "message": self.problem or judgement.get("message", ""),
            "device": self.device,
            "seed": self.seed,
            **({"screened": True} if self.screened else {}),
            "judgement": self.judgement,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """A device of this machine, with the name that users type."""

    name: str
    device: DeviceInfo


@dataclass(frozen=True, slots=True)
class Plan:
    """How a batch judges. ``mode`` is a value of ``judge.pipeline.Mode``.

    ``screen`` judges first what goes to another device, without times. ``jobs`` is how many kernels are built, or
    judged on the emulator, at a time. ``beside`` is how many are judged on one GPU at a time: one, unless nothing is
    timed. ``seed`` is that of all kernels without their own.
    """

    targets: tuple[Target, ...]
    screen: Target | None
    jobs: int
    mode: str
    seed: int
    packs: tuple[str, ...] = field(default=())
    beside: int = 1


def plain(value: Any) -> Any:
    """Returns a dataclass as JSON can carry it, paths as texts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
