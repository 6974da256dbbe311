"""The device of host memory with a thread of its own, as a driver has."""

from __future__ import annotations

import threading

from judge.runner.device import DeviceOptions
from tests.host_device.device import HostDevice


class ThreadedDevice(HostDevice):
    def __init__(self) -> None:
        super().__init__()
        threading.Thread(target=threading.Event().wait, daemon=True).start()


def open_device(options: DeviceOptions) -> ThreadedDevice:  # noqa: ARG001 -- there is one host
    return ThreadedDevice()
