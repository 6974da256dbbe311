"""Kernels made up at random on the emulated device, against the plain evaluation of the same PTX.

GPUJUDGE_TEST_EXAMPLES=5000 makes that many, other ones each time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import sampling
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.scalar.programs import ACCUMULATORS, OUTPUTS, make

EXAMPLES = int(os.environ.get("GPUJUDGE_TEST_EXAMPLES", "0"))


def examples(default: int) -> settings:
    return settings(
        max_examples=EXAMPLES or sampling.examples(default),
        derandomize=not EXAMPLES,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def compare(machine: Machine, draw: random.Random) -> None:
    program = make(draw)
    out = np.zeros((program.threads, OUTPUTS), np.uint64)
    sums = np.zeros(ACCUMULATORS, np.uint64)
    machine.run(program.text, program.name, program.grid, program.block, program.inputs.copy(), out, sums)
    found = program.difference(out, sums)
    assert not found, f"{found}\n{program.text}"


@examples(50)
@given(draw=st.randoms(use_true_random=False))
def test_programs(session_machine: Machine, draw: random.Random) -> None:
    compare(session_machine, draw)


@pytest.fixture
def observed(machine: Machine) -> Iterator[Machine]:
    machine.runtime.observe(checks="full", profile=True)
    yield machine
    machine.runtime.observe(checks="default", profile=False)


@examples(15)
@given(seed=st.integers(0, 1 << 32))
def test_looking_closer_changes_nothing(observed: Machine, seed: int) -> None:
    """With every check and a profile the results are the same, and nothing is found in a program that does no wrong."""
    compare(observed, random.Random(seed))
    report = observed.runtime.take_report()
    assert report.findings == ()
