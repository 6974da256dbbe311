"""The least time in which a device can do a task: what a share of the roofline is of, and below what no time is
believed.

Two different bounds, since kernels are inventive: a product of single-precision matrices can be put together from
products in half the precision on the tensor cores. The roofline of a task is drawn with the arithmetic that its pack
names; the floor with the fastest that could serve it at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.devices.calibration import Calibration
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack

#: For each arithmetic type those whose units can stand in for it.
_STAND_INS = {
    "fp64": ("fp64", "fp32", "tf32", "fp16", "bf16", "int8"),
    "fp32": ("fp32", "tf32", "fp16", "bf16"),
    "tf32": ("fp32", "tf32", "fp16", "bf16"),
    "fp16": ("fp16", "bf16"),
    "bf16": ("fp16", "bf16"),
    "int8": ("int8", "fp16", "bf16"),
}


@dataclass(frozen=True, slots=True)
class Roofline:
    """Of one pack on one device. ``calibration`` is None where the device has not been measured."""

    pack: Pack
    device: DeviceInfo
    calibration: Calibration | None

    def least_s(self, case: Case) -> float | None:
        """The roofline: all bytes at the measured bandwidth, all operations at the measured rate of the pack's
        arithmetic, whichever takes longer. None where the device has not been measured for it."""
        if self.calibration is None:
            return None
        moving_s = self.pack.case_bytes(case) / _bandwidth(self.calibration)
        flops = self.pack.case_flops(case)
        if not flops:
            return moving_s
        if not self.calibration.bounds(self.pack.arithmetic):
            return None
        return max(moving_s, flops / self.calibration.rates[self.pack.arithmetic])

    def floor_s(self, case: Case) -> float:
        """What no kernel gets below: the bytes that cannot be left in the L2 (which is empty before a call, but may
        still hold what was written at its end), and the operations at the fastest rate that could serve; 0 where
        nothing is known of the device. Without a calibration it is the memory's data rate that bounds."""
        moved = self.pack.case_bytes(case) - float(self.device.details.get("l2_bytes") or 0)
        peak = float(self.device.details.get("peak_bytes_per_s") or 0.0)
        if self.calibration is not None:
            peak = _bandwidth(self.calibration)
        moving_s = max(0.0, moved / peak) if peak > 0 else 0.0
        return max(moving_s, self._computing_floor_s(case))

    def _computing_floor_s(self, case: Case) -> float:
        flops = self.pack.case_flops(case)
        stand_ins = _STAND_INS[self.pack.arithmetic]
        calibration = self.calibration
        if not flops or calibration is None or not all(calibration.bounds(name) for name in stand_ins):
            return 0.0
        return flops / max(calibration.rates[name] for name in stand_ins)


def _bandwidth(calibration: Calibration) -> float:
    return max(calibration.read_bytes_per_s, calibration.copy_bytes_per_s)
