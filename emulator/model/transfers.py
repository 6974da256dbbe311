"""Computes the modelled time of a program's copies and memsets, and the time of its own code on the host.

Each costs as much as an empty kernel, and its bytes: over the link to the host, or through DRAM, which a copy on the
device both reads and writes. This is a lower bound, because pageable memory is slower.
"""

from __future__ import annotations

from emulator.model.gpu import Gpu
from emulator.replay.recording import Transfers

#: A program's own code on the host takes no time up to this, and what the launches and copies take that it asks for:
#: such code only asks for them. The processor's clock has that much noise.
HOST_ALLOWANCE_S = 100e-6
#: The same of a program that has read from the device in this call: in 100 µs a processor does the whole of a small
#: task. Little more than it takes to get going; of such a program each microsecond above it counts, so that noise
#: costs no more than itself.
READER_ALLOWANCE_S = 5e-6


def host_times(transfers: Transfers, operations: int, gpu: Gpu) -> tuple[float, float]:
    """Returns the seconds that the host computes while the device is idle, and while it has work.

    ``operations`` is how many launches, copies and memsets the host asks for. Below what these account for, both are
    0; above it they count in full. A host that may know what is on the device has a smaller allowance, and what is
    above it counts, first as time while the device is idle.
    """
    alone_s, beside_s = 1e-9 * transfers.host_ns, 1e-9 * transfers.overlapped_host_ns
    total_s, asking_s = alone_s + beside_s, operations * gpu.launch.each_s
    if total_s > HOST_ALLOWANCE_S + asking_s:
        return alone_s, beside_s
    more_s = total_s - asking_s - READER_ALLOWANCE_S
    if not transfers.tells_the_host or more_s <= 0:
        return 0.0, 0.0
    return min(alone_s, more_s), max(0.0, more_s - alone_s)


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
