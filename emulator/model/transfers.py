"""The modelled time of what a program does beside its launches: copies and memsets.

A copy costs at least what a kernel that does nothing adds to a program, and its bytes: by the link to the host, or by
the device's memory, which a copy on the device reads and writes. That is a lower bound: pageable memory is slower. A
memset is a kernel's launch, too.
"""

from __future__ import annotations

from emulator.model.gpu import Gpu
from emulator.replay.recording import Transfers


def transfer_times(transfers: Transfers, gpu: Gpu) -> dict[str, float]:
    """Seconds by what was done, only of what was."""
    dram, link = gpu.memory.dram_bytes_per_s, gpu.host_link_bytes_per_s
    each_s = gpu.launch.each_s
    found = {
        "copies from the host": transfers.writes * each_s + transfers.written_bytes / link,
        "copies to the host": transfers.reads * each_s + transfers.read_bytes / link,
        "copies on the device": transfers.copies * each_s + 2 * transfers.copied_bytes / dram,
        "memsets": transfers.fills * each_s + transfers.filled_bytes / dram,
    }
    return {what: seconds for what, seconds in found.items() if seconds > 0}
