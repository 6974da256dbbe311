"""Kernels made up at random on the emulated device, against the plain evaluation of the same PTX.

GPUJUDGE_TEST_EXAMPLES=5000 makes that many, other ones each time.
"""

from __future__ import annotations

import os
import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.scalar.programs import ACCUMULATORS, OUTPUTS, make

EXAMPLES = int(os.environ.get("GPUJUDGE_TEST_EXAMPLES", "0"))


@settings(
    max_examples=EXAMPLES or 60,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(draw=st.randoms(use_true_random=False))
def test_programs(session_machine: Machine, draw: random.Random) -> None:
    program = make(draw)
    out = np.zeros((program.threads, OUTPUTS), np.uint64)
    sums = np.zeros(ACCUMULATORS, np.uint64)
    session_machine.run(program.text, program.name, program.grid, program.block, program.inputs.copy(), out, sums)
    found = program.difference(out, sums)
    assert not found, f"{found}\n{program.text}"
