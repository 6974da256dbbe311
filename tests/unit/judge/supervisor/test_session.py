from __future__ import annotations

import pytest

from judge.runner.messages import WATCHED_SLOWDOWN, Watch
from judge.supervisor.session import Bounds


@pytest.mark.parametrize(("watch", "times"), [(Watch.NOTHING, 1), (Watch.PROFILE, WATCHED_SLOWDOWN)])
def test_a_call_that_is_watched_gets_more_time_and_no_more_grace(watch: Watch, times: float) -> None:
    bounds = Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1, grace_s=12)
    assert bounds.kernel_s(watch) == 4 * times
    assert bounds.solve_s(watch) == 4 * times + 12
