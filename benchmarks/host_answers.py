"""Lists challenges whose answer a processor that gets a copy of the inputs may have sooner than our best kernel.

    python benchmarks/host_answers.py [CHALLENGE...]

On the emulator such a submission pays for its copies, and for the time of its own code. The table has, at the size of
the emulator's benchmarks, the modelled time of our best kernel (from ``challenges/medals.json``), and what the host
needs at least: the copies, and the operations or bytes of ``[bench]`` at the rate of one processor's core. Where the
second column is below the first, the benchmark may be too small for a GPU: write such a submission and judge it. A
sort, a search or an iteration has more to do than ``[bench]`` says, which counts what no kernel can avoid.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from emulator.model import Gpu, load_gpu
from emulator.model.transfers import transfer_times
from emulator.replay.recording import Transfers
from judge.bench.plausibility import modelled_roofline_s
from judge.bench.statistics import geometric_mean
from judge.packs import sizes
from judge.packs.collection.loader import load_pack
from judge.packs.medals import NAME
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops

CHALLENGES = Path(__file__).resolve().parent.parent / "challenges"
GPU = "h200"
#: Of one core: operations in vectors, and bytes from its caches.
HOST_FLOPS_PER_S = 8e9
HOST_BYTES_PER_S = 10e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("challenge", nargs="*", help="only these")
    arguments = parser.parse_args()

    gpu, medals = load_gpu(GPU), json.loads((CHALLENGES / NAME).read_text())
    rows = []
    for slug in arguments.challenge or sorted(medals):
        pack = load_pack(CHALLENGES / slug)
        best_s = _best_s(pack, medals.get(slug, {}), gpu)
        cases = pack.benchmarks_for("emulator")
        if best_s is not None and cases:
            rows.append((geometric_mean([_host_s(pack, case, gpu) for case in cases]) / best_s, slug, best_s))
    print("| challenge | our best kernel, µs | a processor, µs | times as long |\n| --- | ---: | ---: | ---: |")
    for ratio, slug, best_s in sorted(rows):
        print(f"| {slug} | {1e6 * best_s:,.1f} | {1e6 * best_s * ratio:,.1f} | {ratio:.2f} |")


def _best_s(pack: Pack, medals: dict[str, dict[str, float]], gpu: Gpu) -> float | None:
    share = medals.get("modelled_time_s", {}).get("share")
    rooflines = [modelled_roofline_s(pack, case, gpu) for case in pack.benchmarks_for("emulator")]
    known = [roofline for roofline in rooflines if roofline is not None]
    return geometric_mean(known) / share if share and known and len(known) == len(rooflines) else None


def _host_s(pack: Pack, case: Case, gpu: Gpu) -> float:
    read, written = (
        [sizes.buffer_bytes(case, argument) for argument in arguments] for arguments in (pack.inputs, pack.outputs)
    )
    copies = Transfers(reads=len(read), read_bytes=sum(read), writes=len(written), written_bytes=sum(written))
    computes_s = max((case_flops(pack, case) or 0) / HOST_FLOPS_PER_S, case_bytes(pack, case) / HOST_BYTES_PER_S)
    return sum(transfer_times(copies, gpu).values()) + computes_s


if __name__ == "__main__":
    main()
