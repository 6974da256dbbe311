"""Compares the judge's times of our Triton kernels with ``triton.testing.do_bench``, on this machine's GPU.

    python benchmarks/triton_times.py
    python benchmarks/triton_times.py --kernels softmax/plain,gemm/tuned --json times.json

Each kernel is judged as a submission. Then a fresh process calls its ``solve`` with PyTorch's tensors, which hold the
same benchmark's inputs, by ``do_bench``: it fills a buffer larger than the L2 before each call and takes the median of
its calls, between two events. A buffer that was filled leaves an L2 that has to be written back while the kernel runs;
so ``do_bench`` is asked once more with a buffer that is read instead, which is how the judge flushes. Prints a row a
kernel: the times, and how far the judge's is from each. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings

ROOT = Path(__file__).resolve().parent.parent
KERNELS = (
    "vector-add/tuned",
    "softmax/plain",
    "rms-norm/plain",
    "reduction/tuned",
    "transpose/plain",
    "gemm/tuned",
    "matmul/plain",
    "attention/plain",
)
_ROUNDS = 3
_REP_MS = 300


def path_of(kernel: str) -> Path:
    return (ROOT / "reference_solutions" / kernel).with_suffix(".py")


def time_by_do_bench(kernel: str, ordinal: int, *, read: bool) -> float:
    """Returns the median of a few rounds of ``do_bench`` in seconds, on the pack's first benchmark.

    With ``read`` the caches are cleared by reading a buffer instead of filling it.
    """
    import torch
    import triton.testing

    from judge.bench.library.calls import Call
    from judge.packs.data.inputs import make_inputs

    path = path_of(kernel)
    pack = load_pack(ROOT / "challenges" / path.parent.name)
    case = pack.benchmarks_for("cuda")[0]
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.cuda.set_device(ordinal)
    if read:
        driver: Any = triton.runtime.driver.active
        driver.clear_cache = lambda cache: cache.amax()
    call = Call(pack, case, make_inputs(pack, case, 1), "cuda")
    medians = [
        triton.testing.do_bench(lambda: call.make(module.solve), rep=_REP_MS, return_mode="median") * 1e-3
        for _ in range(_ROUNDS)
    ]
    return float(statistics.median(medians))


def _in_a_process(spawn: BaseContext, kernel: str, ordinal: int, *, read: bool) -> float:
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(time_by_do_bench, kernel, ordinal, read=read).result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="such as softmax/plain, divided by commas")
    parser.add_argument("--data-dir", type=Path, help="for what is built once; else a new folder")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    rows = []
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as temporary:
        settings = JudgeSettings(data_dir=options.data_dir or Path(temporary))
        device = BUILTIN_BACKENDS.find_device(options.device, settings)
        BUILTIN_BACKENDS.of(device.kind).prepare(settings)
        ordinal = int(device.details.get("ordinal", 0))
        print("| Triton kernel | judge, µs | do_bench, µs | difference | reading, µs | difference |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for kernel in options.kernels.split(","):
            path = path_of(kernel)
            pack = load_pack(ROOT / "challenges" / path.parent.name).in_language("triton")
            judgement = pipeline.judge(path.read_bytes(), pack, device, 1, settings)
            score = judgement.measurement
            if score is None or score.low is None or score.high is None:
                print(f"| {kernel} | {judgement.verdict.value}: {judgement.message} | | | | |", flush=True)
                continue
            by_bench = [_in_a_process(spawn, kernel, ordinal, read=read) for read in (False, True)]
            half = (score.high - score.low) / 2 / score.value
            seconds = {"judge_s": score.value, "do_bench_s": by_bench[0], "reading_s": by_bench[1]}
            rows.append({"kernel": kernel, "half_width": half} | seconds)
            columns = [f"{each * 1e6:.2f} | {score.value / each - 1:+.1%}" for each in by_bench]
            print(f"| {kernel} | {score.value * 1e6:.2f} ± {half:.1%} | {' | '.join(columns)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"device": device.name, "rows": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
