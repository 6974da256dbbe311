"""The page of modelled against measured times."""

from __future__ import annotations

from typing import Any

from benchmarks.model_against_measured import page

MEASURED = {
    "device": {"name": "NVIDIA H200"},
    "kernels": {name: {"value": 1e-4} for name in ("a/plain.cu", "a/tuned.cu", "b/plain.cu", "c/plain.cu")},
}


def row(seconds: float, limiter: str = "latency", **more: Any) -> dict[str, Any]:
    counts = {"blocks": 10_000, "threads": 256, "occupancy": 1.0, "atomics": 0, "barriers": 0}
    return {"seconds": seconds, "limiter": limiter, **counts, "tensor": False, "sectors": 1.0, "banks": 1.0, **more}


def test_kernels_that_are_off_have_a_row_with_a_reason() -> None:
    kernels = {
        "a/plain.cu": row(1.1e-4),
        "a/tuned.cu": row(2e-4),
        "b/plain.cu": row(5e-5, "DRAM bandwidth", sectors=8.0),
        "c/plain.cu": {"problem": "more than 60 s on the emulator"},
    }
    text = page({"model": 5, "kernels": kernels}, MEASURED)
    assert "| median | 1.10; half of the kernels 0.50 to 2.00 |" in text
    assert "| within a factor of 1.4 | 1 of 3 |" in text
    assert "| latency | 2 | 1.55 | 1 |" in text
    assert "| `a/tuned.cu` | 100 µs | 200 µs | 2.00 | latency | waits are counted for each warp by itself" in text
    assert "| `b/plain.cu` | 100 µs | 50 µs | 0.50 | DRAM bandwidth | scattered accesses" in text
    assert "`a/plain.cu`" not in text
    assert "- 1: more than 60 s on the emulator" in text


def test_nothing_modelled_is_a_page_too() -> None:
    assert "- 4: not run yet" in page({"model": 5, "kernels": {}}, MEASURED)
