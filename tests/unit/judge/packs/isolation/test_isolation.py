"""An error in a pack's code is reported with the pack's name, and harms nobody else."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.data.committed_array import CommittedArray, NotCommittedError
from judge.packs.data.inputs import lazy_inputs, make_inputs
from judge.packs.errors import PackError
from judge.packs.isolation import calls, messages
from judge.packs.isolation.client import Limits, PackProcesses
from judge.packs.isolation.shared_array import shared_empty, shared_memory_of
from judge.packs.judging import expected_outputs, spot_check
from judge.packs.pack import Pack
from judge.wire.elements import Element

SPOT_CHECK = """
def spot_check(rng, inputs, outputs):
    rows = rng.integers(0, int(inputs["N"]), 5)
    outputs["y"][rows]
    return {"y": (rows, reference(inputs["x"][rows], 5, inputs["factor"]), None)}
"""


@pytest.fixture(scope="module")
def processes() -> Iterator[PackProcesses]:
    made = PackProcesses(Limits(wall_s=2.0, wall_s_a_byte=0.0))
    yield made
    made.close()


@pytest.fixture
def pack_that(pack_directory: Path, processes: PackProcesses, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Pack]:
    """Returns the pack with some code at the start of its reference."""
    monkeypatch.setattr(calls, "PROCESSES", processes)

    def make(code: str) -> Pack:
        path = pack_directory / "reference.py"
        path.write_text(path.read_text().replace("    return", f"    {code}\n    return"))
        return load_pack(pack_directory)

    return make


def failure(pack: Pack) -> str:
    case = pack.cases[0]
    with pytest.raises(PackError) as raised:
        expected_outputs(pack, case, make_inputs(pack, case, 1))
    assert raised.value.file.name == "reference.py"
    return str(raised.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit(0)", r"calls sys.exit(0)"),
        ("import os; os._exit(0)", "ends its process with exit code 0"),
        ("import os; os.abort()", "ends its process by signal 6"),
        ("np.ones(5 << 30, np.uint8)", "takes more memory than the 4 GiB"),
        ("import socket; socket.socket()", "neither network nor processes"),
        ("import subprocess; subprocess.run(['true'])", "neither network nor processes"),
        ("open('written', 'w')", "nor write files"),
        ("open('/etc/passwd')", "PermissionError"),
        ("open('/proc/self/environ')", "PermissionError"),
        ("import os; os.listdir('/')", "PermissionError"),
        ("open(np.__file__); raise ValueError('may read packages')", "may read packages"),
        (
            "import emulator, judge, records; [open(each.__file__) for each in (emulator, judge, records)]; "
            "raise ValueError('may read what it imports')",
            "may read what it imports",
        ),
        ("import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "PermissionError"),
        ("import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))", "PermissionError"),
        ("import os; raise ValueError(sorted(os.environ.keys() - {'PATH', 'LANG', 'LC_ALL', 'TZ'}))", "'PYTHONPATH']"),
        ("import os; os.kill(os.getppid(), 9)", "PermissionError"),
        ("import os; os.sched_setaffinity(os.getppid(), {0})", "PermissionError"),
        ("import fcntl, os; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())", "PermissionError"),
        ("import fcntl, os; fcntl.fcntl(os.pipe()[0], fcntl.F_SETSIG, 9)", "PermissionError"),
        ("import fcntl, struct; fcntl.ioctl(0, 0x8901, struct.pack('i', 1))", "PermissionError"),
        ("import os; os.utime(os.__file__)", "PermissionError"),
        ("import os; os.chown(os.__file__, os.getuid(), os.getgid())", "PermissionError"),
        ("import os; os.setxattr(os.__file__, 'user.a', b'b')", "PermissionError"),
        ("import os; os.chroot('/usr')", "PermissionError"),
        ("import os; os.mkfifo('fifo')", "PermissionError"),
        # chmod, by the call of newer kernels, which the C library does not make yet.
        (
            "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "
            "made = libc.syscall(452, -100, os.__file__.encode(), 420, 0); raise ValueError(made, ctypes.get_errno())",
            "(-1, 1)",
        ),
        ("x[0] = 1", "read-only"),
        ("return 'text'", "raises"),
        ("raise ValueError('a' * 3)", "reference, line 5: raises ValueError: aaa"),
    ],
)
def test_what_a_reference_may_not_do(pack_that: Callable[[str], Pack], code: str, message: str) -> None:
    assert message in failure(pack_that(code))


def test_warnings_of_its_arithmetic_stay_inside(
    pack_that: Callable[[str], Pack], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pack = pack_that("import numpy, sys; print(numpy.ones(1) / numpy.zeros(1), file=sys.stderr)")
    # Of its own, whose stderr is the one that is captured here.
    with contextlib.closing(PackProcesses()) as processes:
        monkeypatch.setattr(calls, "PROCESSES", processes)
        expected_outputs(pack, pack.cases[0], make_inputs(pack, pack.cases[0], 1))
    told = capfd.readouterr().err
    assert "inf" in told
    assert "RuntimeWarning" not in told


def test_what_nobody_vouches_for_tells_the_log_nothing(
    pack_that: Callable[[str], Pack], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pack = dataclasses.replace(pack_that("import os; os.write(2, b'to the log'); os.write(1, b'out')"), confined=True)
    with contextlib.closing(PackProcesses()) as processes:
        monkeypatch.setattr(calls, "PROCESSES", processes)
        expected_outputs(pack, pack.cases[0], make_inputs(pack, pack.cases[0], 1))
    assert capfd.readouterr() == ("", "")


#: What a pack can do that knows how its process answers: it finds the judge's channel, its one socket.
FORGE = """
import os, stat, struct, time

def sockets():
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                yield fd
        except OSError:
            pass

def forge(text, seconds_a_byte=0.0):
    channel = next(sockets())
    os.write(channel, struct.pack("<IQIQ", 20, len(text), 0, 0))
    for at in range(len(text)) if seconds_a_byte else [slice(None)]:
        os.write(channel, text[at : at + 1] if seconds_a_byte else text)
        time.sleep(seconds_a_byte)
    time.sleep(60)
"""


@pytest.mark.parametrize(
    "text",
    [
        "no answer",
        "[]",
        '{"tuple":["pack-error",null]}',
        '{"tuple":["raised",{"tuple":["ValueError","text"]}]}',
        '{"tuple":["returned",{"dict":[["y",{"expected":["text",null,0]}]]}]}',
        '{"tuple":["returned",{"dict":[]}]}',
        '{"tuple":["returned",null]}',
        '{"tuple":["returned",{"array":["|O",[1],0]}]}',
        '{"tuple":["returned",{"array":["<f8",[0],-1]}]}',
        "[" * 100_000,
    ],
)
def test_forged_answers_are_mistakes_of_the_pack(
    pack_that: Callable[[str], Pack], pack_directory: Path, text: str
) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + FORGE)
    assert "reference.py" in failure(pack_that(f"forge({text.encode()!r})"))


def test_an_answer_that_comes_byte_by_byte_ends(pack_that: Callable[[str], Pack], pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + FORGE)
    assert "takes longer than 2 s" in failure(pack_that("forge(b'[' * 1000, 0.2)"))


def test_an_endless_loop_ends(pack_that: Callable[[str], Pack]) -> None:
    assert "takes longer than 2 s" in failure(pack_that("while True: pass"))


def test_one_that_fails_does_not_harm_the_next_call(pack_that: Callable[[str], Pack]) -> None:
    pack = pack_that("assert N != 5")
    failure(pack)
    case = pack.cases[1]
    inputs = make_inputs(pack, case, 1)
    expected = expected_outputs(pack, case, inputs)["y"]
    assert np.array_equal(expected.values, inputs["x"].astype(np.float64) * float(inputs["factor"]))


def test_answers_are_those_of_a_local_reference(pack_that: Callable[[str], Pack], pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + SPOT_CHECK)
    pack = pack_that("pass")
    local = dataclasses.replace(pack, reference=pack.reference.local())
    for case in pack.cases:
        inputs = make_inputs(pack, case, 1)
        here, there = (expected_outputs(each, case, inputs)["y"] for each in (local, pack))
        assert np.array_equal(here.values, there.values)
        assert here.bound is not None
        assert there.bound is not None
        assert np.array_equal(here.bound, there.bound)
        wrong = {"y": np.zeros_like(inputs["x"])}
        found = [spot_check(each, case, lazy_inputs(pack, case, 1), wrong, seed=3) for each in (local, pack)]
        assert found[0] == found[1]
        assert found[0] is not None


def test_outputs_that_were_not_committed(pack_that: Callable[[str], Pack], pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + SPOT_CHECK)
    pack = pack_that("pass")
    case = pack.cases[0]
    output = shared_empty((case.axes["N"],), np.dtype(np.float32))
    committed = CommittedArray(output, Element.FLOAT32, bytes(32), np.zeros(32, np.uint8), threads=1)
    with pytest.raises(NotCommittedError):
        spot_check(pack, case, lazy_inputs(pack, case, 1), {"y": committed}, seed=3)


def test_threads_get_processes_of_their_own(pack_that: Callable[[str], Pack]) -> None:
    pack = pack_that("pass")
    case = pack.cases[0]
    inputs = make_inputs(pack, case, 1)
    found: list[bool] = []

    def check() -> None:
        for _ in range(5):
            found.append(bool(expected_outputs(pack, case, inputs)["y"].values.size))

    threads = [threading.Thread(target=check) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


class _Stranger:
    """Something that no answer may have."""


def test_answers_are_arrays_and_plain_data_only() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        messages.send_answer(theirs, {"a": np.arange(6.0).reshape(2, 3), "b": (1, None, "text"), "c": np.int64(3)})
        answer = messages.receive_answer(ours)
        assert answer["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(ValueError, match="read-only"):
            answer["a"][0, 0] = 7
        assert (answer["b"], answer["c"]) == ((1, None, "text"), 3)
        with pytest.raises(TypeError, match="_Stranger"):
            messages.send_answer(theirs, _Stranger())
        with pytest.raises(TypeError, match="object"):
            messages.send_answer(theirs, np.array([None]))
        theirs.close()
        with pytest.raises(EOFError):
            messages.receive_answer(ours)


def test_shared_arrays_are_passed_without_a_copy() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        array = shared_empty((4,), np.dtype(np.int32))
        assert shared_memory_of(memoryview(array)) is not None
        assert shared_memory_of(memoryview(array[1:])) is None
        messages.send(ours, {"it": array, "part": array[1:]})
        array[2] = 5
        got = messages.receive_trusted(theirs, lambda _: None)
        assert got["it"].tolist() == [0, 0, 5, 0]
        assert got["part"].tolist() == [0, 0, 0]
        with pytest.raises(ValueError, match="read-only"):
            got["it"][0] = 1
