"""What a submission is compiled for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.judgement import DeviceKind

#: The first architecture with arch-specific instructions (wgmma, TMA of Hopper and later): only ``sm_90a`` offers them.
_FIRST_SPECIFIC = 90
#: What the emulator reads: PTX for the least architecture that has what kernels of today use.
EMULATOR_ARCH = "compute_80"


@dataclass(frozen=True, slots=True)
class Target:
    """``arch`` is ``compute_80`` for the emulator and ``sm_<cc>`` of the device for ``cuda``."""

    kind: DeviceKind
    arch: str = EMULATOR_ARCH

    def __post_init__(self) -> None:
        pattern = r"compute_\d+" if self.kind == "emulator" else r"sm_\d+[af]?"
        if not re.fullmatch(pattern, self.arch):
            raise ValueError(f"no architecture of {self.kind}: {self.arch}")

    @staticmethod
    def emulator() -> Target:
        return Target("emulator", EMULATOR_ARCH)

    @staticmethod
    def cuda(compute_capability: str) -> Target:
        """For a device of this compute capability, such as ``9.0``."""
        return Target("cuda", "sm_" + compute_capability.replace(".", ""))

    def flags(self) -> tuple[str, ...]:
        """nvcc's options for it: PTX alone, or the device's cubin with the PTX it was made from."""
        if self.kind == "emulator":
            return ("-cudart", "shared", "--compress-mode=none", "-gencode", f"arch={self.arch},code={self.arch}")
        number = self.specific_arch.removeprefix("sm_")
        code = f"arch=compute_{number},code=[compute_{number},sm_{number}]"
        return ("-cudart", "static", "-Xptxas", "-v", "-gencode", code)

    @property
    def specific_arch(self) -> str:
        """``sm_90a`` for ``sm_90``, so that kernels may use what only that architecture has; older ones as they are."""
        number = self.arch.removeprefix("sm_")
        return f"{self.arch}a" if number.isdigit() and int(number) >= _FIRST_SPECIFIC else self.arch

    @property
    def ptxas_arch(self) -> str:
        """What ptxas is asked about for the report on registers."""
        return "sm_" + self.arch.removeprefix("compute_") if self.kind == "emulator" else self.specific_arch
