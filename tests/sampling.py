"""Which cases of the exhaustive tests a session runs: a tenth by default, drawn by a seed.

A test marked ``exhaustive`` has cases that differ in their data alone, or takes long beside others like it. Cases of
one function are drawn from together; tests without parameters that are marked are drawn from together file by file. At
least one of each such group is run, unless all are costly. ``exhaustive(share=40)`` draws one case in 40, for cases
that take long; ``exhaustive(by_file=True)`` draws from all such cases of a file together, for files each of whose tests
starts many processes. ``exhaustive(costly=True)`` is for cases that take much longer than others that prove nearly the
same: they are not drawn.

Nothing is left out with ``--exhaustive``, nor where tests are chosen by name (``-k``, or ``file::test``) or because
they failed (``--last-failed``).
``--exhaustive-rest`` runs what a session with the same seed left out, and whatever draws examples of its own (the tests
of Hypothesis, whose profile is the long one then); so one session with neither option and one with this one run
everything, but for cases marked ``on_record``, which passed before with the very files that they depend on.

``--at-most-seconds`` ends a session in time: later cases are skipped. The seed shuffles the files then,
so that each commit runs others; tests marked ``slow`` still come first.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

#: Environment variable: the seed that decides which cases are drawn. The commit by default.
SEED = "GPUJUDGE_TEST_SEED"
SHARE = 10

#: The reason of a skip for want of time.
TOO_LATE = "the seconds of --at-most-seconds are over"

#: What xdist's processes are given: the end, in seconds of the clock ``time.monotonic``, which all processes share.
_ENDS_AT = "ends_at"

_scope: Scope | None = None
_ends_at = float("inf")


class Scope(Enum):
    """Which cases of the exhaustive tests are run."""

    SAMPLE = "a tenth"
    REST = "those that a tenth leaves out"
    ALL = "all"


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("exhaustive tests")
    group.addoption("--exhaustive", action="store_true", help="run all cases of exhaustive tests, not a tenth of them")
    group.addoption(
        "--exhaustive-rest",
        action="store_true",
        help=f"run only the cases that a session without this option, and with the same {SEED}, leaves out",
    )

    group.addoption(
        "--at-most-seconds",
        type=float,
        default=float("inf"),
        metavar="SECONDS",
        help="skip the cases whose turn comes after so many seconds, and run them in an order that the seed draws",
    )


def examples(number: int) -> int:
    """Returns how many examples a test of Hypothesis makes that makes ``number`` where all cases are run."""
    return number if _scope is not Scope.SAMPLE else -(-number // SHARE)


def configure(config: pytest.Config) -> None:
    """Decides for this session. Processes of xdist draw the same cases, and end at the same moment."""
    global _scope, _ends_at
    _scope = scope_of(config)
    given = getattr(config, "workerinput", {})
    _ends_at = given.get(_ENDS_AT, time.monotonic() + config.option.at_most_seconds)
    seed()


def configure_process(given: dict[str, Any]) -> None:
    """Hands the end down to a process of xdist, which may take the place of one that crashed minutes later."""
    given[_ENDS_AT] = _ends_at


def skip_if_late() -> None:
    """Skips the test that is about to begin if the session's seconds are over."""
    if time.monotonic() > _ends_at:
        pytest.skip(TOO_LATE)


def scope_of(config: pytest.Config) -> Scope:
    # The cache's plugin, which has these options, can be switched off.
    failed = config.getoption("lf", default=False)
    if config.getoption("exhaustive_rest") and not failed:
        return Scope.REST
    named = config.option.keyword or any("::" in argument for argument in config.args)
    return Scope.ALL if config.getoption("exhaustive") or named or failed else Scope.SAMPLE


def seed() -> str:
    """Returns the seed, and hands it down to the processes that this one starts."""
    if SEED not in os.environ:
        os.environ[SEED] = _commit()
    return os.environ[SEED]


def _commit() -> str:
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    except OSError:
        return "0"
    return done.stdout.strip() or "0"


def shuffle(items: list[pytest.Item]) -> None:
    """Puts the files in an order that the seed draws; the tests of a file stay together."""
    items.sort(key=lambda item: random.Random(f"{seed()} {item.path}").random())


def select(items: Iterable[pytest.Item], scope: Scope) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Returns the items to run and those to leave out."""
    items = list(items)
    if scope is Scope.ALL:
        return items, []
    sampled = _sampled(items)
    kept, left = [], []
    for item in items:
        (kept if _is_run(item, scope, sampled) else left).append(item)
    return kept, left


def _is_run(item: pytest.Item, scope: Scope, sampled: set[str]) -> bool:
    if scope is Scope.SAMPLE:
        return not _is_exhaustive(item) or item.nodeid in sampled
    if item.get_closest_marker("hypothesis") is not None:
        return True
    return _is_exhaustive(item) and item.nodeid not in sampled and item.get_closest_marker("on_record") is None


def _is_exhaustive(item: pytest.Item) -> bool:
    return item.get_closest_marker("exhaustive") is not None


def _sampled(items: Iterable[pytest.Item]) -> set[str]:
    groups: dict[tuple[str, int], dict[str, bool]] = defaultdict(dict)
    for item in items:
        marker = item.get_closest_marker("exhaustive")
        if marker is not None:
            file, _, name = item.nodeid.partition("::")
            function, bracket, _ = name.partition("[")
            alone = bracket and not marker.kwargs.get("by_file")
            group = f"{file}::{function}" if alone else file, marker.kwargs.get("share", SHARE)
            # Of a function and its case, either may say it.
            costly = any(each.kwargs.get("costly") for each in item.iter_markers("exhaustive"))
            groups[group][item.nodeid] = costly
    drawn: set[str] = set()
    for (name, share), cases in groups.items():
        cheap = [case for case, is_costly in cases.items() if not is_costly]
        # Each group has a generator of its own: what is drawn of one does not depend on what others there are.
        drawn.update(random.Random(f"{seed()} {name}").sample(cheap, min(len(cheap), -(-len(cases) // share))))
    return drawn
