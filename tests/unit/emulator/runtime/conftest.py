from __future__ import annotations

from tests.emulated_device import device

__all__ = ["device"]
