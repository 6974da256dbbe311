"""The script that sets measured times beside modelled ones: its statistics, and that a failure costs only itself."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from benchmarks.modelled_time import correlation, measure_topic, ranks
from tests.kernels.build import BuildError
from tests.kernels.harness import Kernel


def test_equal_values_get_the_mean_of_their_ranks() -> None:
    assert ranks([30, 10, 20, 10, 30, 30]).tolist() == [5, 1.5, 3, 1.5, 5, 5]


def test_rank_correlation() -> None:
    times = [3.0, 1.0, 2.0, 8.0, 5.0]
    assert correlation(ranks(times), ranks([t**3 for t in times])) == pytest.approx(1)
    assert correlation(ranks(times), ranks([-t for t in times])) == pytest.approx(-1)
    # By 1 - 6 Σ d² / (n (n² - 1)), which holds without ties: d is 0, 1, 1, 1, 1.
    assert correlation(ranks(times), ranks([3, 2, 1, 4, 5])) == pytest.approx(1 - 6 * 4 / (5 * 24))
    assert np.isnan(correlation(ranks(times), ranks([7, 7, 7, 7, 7])))


def test_each_kernel_that_fails_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels = [Kernel("transpose", name) for name in ("naive", "padded", "tiled")]
    builds: dict[Kernel, Future[Path]] = {kernel: Future() for kernel in kernels}
    builds[kernels[0]].set_exception(BuildError("no such instruction"))
    for kernel in kernels[1:]:
        builds[kernel].set_result(tmp_path / "not-there.so")
    results = {result.kernel: result for result in measure_topic(kernels, builds, tmp_path / "gpu")}
    assert set(results) == set(map(str, kernels))
    assert "no such instruction" in str(results["transpose/naive"].error)
    assert all(result.seconds is None and result.error for result in results.values())
    assert capsys.readouterr().out.count("FAILED") == 3
