"""The order in which several processes run the tests: the long ones begin first, so that none stands alone at the end.

A test marked ``slow(seconds)`` takes about so long on a machine with nothing else to do. Tests marked with the same
``xdist_group(name)`` share what takes long to make: they come one after another, and so all in one process as a rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest


def long_first(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Returns the items so that each process begins with its share of the slow ones, the slowest first.

    ``--dist worksteal`` gives each process an equal part of the list, and takes from the ends of the parts later.
    """
    groups = sorted((group for group in _groups(items) if _seconds(group)), key=_seconds, reverse=True)
    slow = {id(item) for group in groups for item in group}
    others = [item for item in items if id(item) not in slow]
    ordered: list[pytest.Item] = []
    left = len(items)
    for process in range(processes):
        size = left // (processes - process)
        begin = [item for group in groups[process::processes] for item in group][:size]
        ordered += [*begin, *others[: size - len(begin)]]
        del others[: size - len(begin)]
        left -= size
    # Where there are fewer places than slow tests.
    placed = set(map(id, ordered))
    return [*ordered, *(item for item in items if id(item) not in placed)]


def _groups(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """Returns the items of each group, and each other item by itself."""
    found: dict[object, list[pytest.Item]] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        found[id(item) if marker is None else str(marker.args[0])].append(item)
    return list(found.values())


def _seconds(group: Sequence[pytest.Item]) -> float:
    return sum(float(marker.args[0]) for item in group if (marker := item.get_closest_marker("slow")) is not None)
