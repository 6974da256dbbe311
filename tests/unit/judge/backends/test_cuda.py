from __future__ import annotations

from judge.backends.cuda import backend
from judge.packs.custom.case import with_custom_case
from judge.packs.pack import Pack


def test_a_run_times_one_benchmark(packs: dict[str, Pack]) -> None:
    made = backend.make_backend()
    (timed,) = made.benchmarks_of_run(packs["gemm"])
    assert timed in packs["gemm"].benchmarks_for("cuda")


def test_a_run_times_an_own_input_unless_its_values_were_typed(packs: dict[str, Pack]) -> None:
    made = backend.make_backend()
    (timed,) = made.benchmarks_of_run(with_custom_case(packs["vector-add"], {"N": "100"}, "cuda"))
    assert timed.axes == {"N": 100}
    assert not made.benchmarks_of_run(with_custom_case(packs["vector-add"], {"N": "2", "A": "1 2"}, "cuda"))
