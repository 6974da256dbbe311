"""Where and when a runner runs is the supervisor's to say, in the real jail: the submission finds it settled."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judge.packs.data.inputs import input_recipes
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.session import Session
from judge.wire.bursts import ReserveRequest, TimedCall, TimedSlot
from tests.host_device.judging import build, host_factory, twice_pack

pytestmark = pytest.mark.jail

#: Tells how many processors it had before and after all that could change that, in a constructor and in a call, and
#: which of the attempts were not refused, as bits.
SOURCE = """
#include <cerrno>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int processors() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}
static int not_refused() {
    cpu_set_t everywhere;
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &everywhere);
    sched_param none = {};
    unsigned attributes[12] = {sizeof attributes, SCHED_BATCH};
    bool refused[] = {
        syscall(SYS_sched_setaffinity, 0, sizeof everywhere, &everywhere) < 0 && errno == EPERM,
        syscall(SYS_sched_setaffinity, getpid(), sizeof everywhere, &everywhere) < 0 && errno == EPERM,
        syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &none) < 0 && errno == EPERM,
        syscall(SYS_sched_setparam, 0, &none) < 0 && errno == EPERM,
        syscall(SYS_sched_setattr, 0, attributes, 0) < 0 && errno == EPERM,
        syscall(SYS_setpriority, 0, 0, 5) < 0 && errno == EPERM,
        syscall(SYS_ioprio_set, 1, 0, 3 << 13) < 0 && errno == EPERM,
        prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) < 0 && errno == EPERM,
        prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) < 0 && errno == EPERM,
        prctl(53 /* PR_SET_SPECULATION_CTRL */, 1, 4, 0, 0) < 0 && errno == EPERM,
        prctl(62 /* PR_SCHED_CORE */, 1, 0, 0, 0) < 0 && errno == EPERM,
        syscall(SYS_arch_prctl, 0x1012 /* ARCH_SET_CPUID */, 1) < 0 && errno == EPERM,
    };
    int found = 0, bit = 1;
    for (bool one : refused) found |= one ? 0 : bit, bit *= 2;
    return found;
}
static int threads_on(int many) {
    int found = 0;
    for (int thread = 1; thread < 1000; thread++) {
        cpu_set_t set;
        if (syscall(SYS_tgkill, getpid(), thread, 0) || sched_getaffinity(thread, sizeof set, &set)) continue;
        found += CPU_COUNT(&set) == many;
    }
    return found;
}
static int early[3];
__attribute__((constructor)) static void begin() {
    early[0] = processors(), early[1] = not_refused(), early[2] = processors();
}
extern "C" void solve(const float* in, int* out, int n) {
    for (int i = 0; i < 3; i++) out[i] = early[i];
    out[3] = processors(), out[4] = not_refused(), out[5] = processors();
    out[6] = sched_getcpu();
    out[7] = threads_on(1), out[8] = threads_on(out[3]);
}
"""
Start = Callable[[int | None], Session]


@pytest.fixture
def start() -> Iterator[Start]:
    sessions = []

    def started(processor: int | None) -> Session:
        settings = JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
        made = host_factory(settings, twice_pack().benchmarks).at(processor)
        request = dataclasses.replace(made.request, device_module="tests.host_device.threaded")
        session = dataclasses.replace(made, request=request).start()
        sessions.append(session)
        size = 4 * twice_pack().benchmarks[0].axes["N"]
        session.reserve(ReserveRequest((size, size, 0)))
        session.load(build(SOURCE))
        return session

    yield started
    for session in sessions:
        session.finish()


def _found(session: Session) -> list[int]:
    case = twice_pack().benchmarks[0]
    size = 4 * case.axes["N"]
    recipe = input_recipes(twice_pack(), case, 7, 1)["input"]
    slots = (TimedSlot(size=size, recipe=recipe), TimedSlot(size=size), TimedSlot(case.axes["N"].to_bytes(8, "little")))
    session.time((TimedCall(slots, copy=True),))
    return [int(value) for value in session.runner.outputs.read(0, (9,), np.dtype(np.int32))]


def test_what_is_timed_stays_where_it_is_put_from_the_first_line_on(start: Start) -> None:
    processor = max(os.sched_getaffinity(0))
    found = _found(start(processor))
    assert found[:7] == [1, 0, 1, 1, 0, 1, processor]
    assert found[7] >= 2, "the device's thread"
    assert found[7] == found[8]


def test_what_is_put_nowhere_stays_as_it_is(start: Start) -> None:
    anywhere = len(os.sched_getaffinity(0))
    assert _found(start(None))[:6] == [anywhere, 0, anywhere] * 2


def test_a_processor_that_is_not_there_is_no_reason_to_fail(start: Start) -> None:
    anywhere = len(os.sched_getaffinity(0))
    assert _found(start(1023))[:6] == [anywhere, 0, anywhere] * 2
