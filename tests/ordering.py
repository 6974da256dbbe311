"""The order in which several processes run the tests: the long ones begin first, so that none stands alone at the end.

A test marked ``slow(seconds)`` takes about so long on a machine with nothing else to do.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def long_first(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Returns the items so that each process begins with its share of the slow ones, the slowest first.

    ``--dist worksteal`` gives each process an equal part of the list, and takes from the ends of the parts later.
    """
    slow = sorted((item for item in items if _seconds(item)), key=_seconds, reverse=True)
    others = [item for item in items if not _seconds(item)]
    ordered: list[pytest.Item] = []
    left = len(items)
    for process in range(processes):
        size = left // (processes - process)
        begin = slow[process::processes][:size]
        ordered += [*begin, *others[: size - len(begin)]]
        del others[: size - len(begin)]
        left -= size
    # Where there are fewer places than slow tests.
    placed = set(map(id, ordered))
    return [*ordered, *(item for item in items if id(item) not in placed)]


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("slow")
    return 0.0 if marker is None else float(marker.args[0])
