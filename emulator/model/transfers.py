"""Computes the modelled time of a program's copies and memsets.

Each costs as much as an empty kernel, and its bytes: over the link to the host, or through DRAM, which a copy on the
device both reads and writes. This is a lower bound, because pageable memory is slower.
"""

from __future__ import annotations

from emulator.model.gpu import Gpu
from emulator.replay.recording import Transfers


def transfer_times(transfers: Transfers, gpu: Gpu) -> dict[str, float]:
    """Returns seconds by kind of transfer; leaves out kinds that did not occur."""
    dram, link = gpu.memory.dram_bytes_per_s, gpu.host_link_bytes_per_s
    each_s = gpu.launch.each_s
    found = {
        "copies from the host": transfers.writes * each_s + transfers.written_bytes / link,
        "copies to the host": transfers.reads * each_s + transfers.read_bytes / link,
        "copies on the device": transfers.copies * each_s + 2 * transfers.copied_bytes / dram,
        "memsets": transfers.fills * each_s + transfers.filled_bytes / dram,
    }
    return {what: seconds for what, seconds in found.items() if seconds > 0}
