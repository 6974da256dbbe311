"""The device of host memory with something to flush: what surrounds a call takes as long as on a GPU, by comparison."""

from __future__ import annotations

import time

from judge.runner.device import DeviceOptions
from tests.host_device.device import HostDevice

FLUSH_S = 0.02


class FlushingDevice(HostDevice):
    def settle(self) -> None:
        time.sleep(FLUSH_S)


def open_device(options: DeviceOptions) -> FlushingDevice:  # noqa: ARG001 -- there is one host
    return FlushingDevice()
