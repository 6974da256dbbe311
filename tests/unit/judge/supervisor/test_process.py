"""The supervisor against runners that a test plays itself, over a real socket."""

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from judge.errors import Cancelled, JailUnavailable
from judge.sandbox.launch import JailExit
from judge.sandbox.starvation import ProcessorTime
from judge.supervisor import process
from judge.supervisor.process import Ending, RequestRefused, RunnerEnded, RunnerProcess
from judge.wire.frames import Frame, Op, pack_frame, split_frame
from judge.wire.messages import FailedReply

Script = Callable[[int], None]


class ScriptedJail:
    """Stands for a jailed process: a thread that has the runner's end of the socket."""

    def __init__(self, fd: int, script: Script, ending: JailExit, failure: JailUnavailable | None) -> None:
        self.starves = 0.0
        self.makes_code_s = 0.0
        self.lost = False
        self._started_s = time.monotonic()
        self._ending = ending
        self._failure = failure
        self._thread = threading.Thread(target=self._run, args=(fd, script), daemon=True)
        self._thread.start()

    def _run(self, fd: int, script: Script) -> None:
        try:
            script(fd)
        finally:
            os.close(fd)

    def thread_names(self) -> set[str]:
        return {"python", "making code"} if time.monotonic() - self._started_s < self.makes_code_s else {"python"}

    def processor_times(self) -> dict[int, ProcessorTime]:
        """As if one thread waited for a processor for this share of the time."""
        return {1: ProcessorTime(0.0, self.starves * (time.monotonic() - self._started_s))}

    def poll(self) -> bool:
        """As if it had ended although somebody holds its socket, if it is lost."""
        return self.lost or not self._thread.is_alive()

    def wait(self, timeout_s: float) -> bool:
        self._thread.join(0 if self.lost else timeout_s)
        return self.poll()

    def end(self) -> JailExit:
        if self._failure is not None:
            raise self._failure
        return self._ending


def _runner(
    script: Script,
    *,
    ending: JailExit | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    failure: JailUnavailable | None = None,
    said: bytes = b"",
) -> RunnerProcess:
    default = JailExit(0, None, 1.0, None, None, False, False)

    def launcher(fds: Sequence[int], output_fd: int) -> ScriptedJail:
        os.write(output_fd, said)
        return ScriptedJail(os.dup(fds[0]), script, ending or default, failure)

    return RunnerProcess(launcher, 0, 0, print_limit=100, cancelled=cancelled)  # type: ignore[arg-type]


def _receive(fd: int) -> Frame:
    data = bytearray()
    while (found := split_frame(data)) is None:
        piece = os.read(fd, 4096)
        if not piece:
            raise EOFError
        data += piece
    return found[0]


def _ended(runner: RunnerProcess, limit_s: float = 5.0) -> Ending:
    with pytest.raises(RunnerEnded) as caught:
        runner.request(Op.RUN, b"", limit_s)
    return caught.value.ending


def test_a_reply_is_matched_and_timed() -> None:
    def script(fd: int) -> None:
        request = _receive(fd)
        os.write(fd, pack_frame(request.op | Op.REPLY, request.nonce, b"done"))
        with pytest.raises(EOFError):
            _receive(fd)

    runner = _runner(script)
    payload, wall_s = runner.request(Op.RUN, b"", 5.0)
    assert payload == b"done"
    assert wall_s > 0
    runner.close()


def test_a_refusal_is_not_an_ended_runner() -> None:
    reply = FailedReply(3, 0, "", "no such symbol")

    def script(fd: int) -> None:
        request = _receive(fd)
        os.write(fd, pack_frame(request.op | Op.FAILED, request.nonce, reply.pack()))

    runner = _runner(script)
    with pytest.raises(RequestRefused) as caught:
        runner.request(Op.LOAD, b"", 5.0)
    runner.close()
    assert caught.value.reply == reply


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda request: pack_frame(request.op | Op.REPLY, request.nonce ^ 1, b""), "another request"),
        (lambda request: pack_frame(Op.FETCH | Op.REPLY, request.nonce, b""), "another request"),
        (lambda _: b"all is well, give me AC!", "not a frame"),
        (lambda request: pack_frame(request.op | Op.FAILED, request.nonce, b"?"), "too short"),
    ],
)
def test_forged_replies_are_an_attack(forge: Callable[[Frame], bytes], words: str) -> None:
    def script(fd: int) -> None:
        os.write(fd, forge(_receive(fd)))

    ending = _ended(_runner(script))
    assert words in ending.tampered


def test_a_second_reply_to_one_request_is_an_attack() -> None:
    def script(fd: int) -> None:
        request = _receive(fd)
        os.write(fd, 2 * pack_frame(request.op | Op.REPLY, request.nonce, b""))
        with pytest.raises(EOFError):
            _receive(fd)

    runner = _runner(script)
    runner.request(Op.RUN, b"", 5.0)
    assert "nobody had asked" in _ended(runner).tampered


def test_a_missing_reply_times_out() -> None:
    release = threading.Event()
    runner = _runner(lambda _: release.wait(10) and None)
    ending = _ended(runner, limit_s=0.1)
    release.set()
    assert ending.timed_out
    assert not ending.tampered


def test_a_reply_that_came_while_nobody_waited_is_in_time() -> None:
    sent = threading.Event()

    def script(fd: int) -> None:
        request = _receive(fd)
        os.write(fd, pack_frame(request.op | Op.REPLY, request.nonce, b"early"))
        sent.set()

    runner = _runner(script)
    pending = runner.send(Op.START, b"")
    assert sent.wait(5)
    late = dataclasses.replace(pending, sent_s=pending.sent_s - 100)
    assert runner.receive(late, 1.0)[0] == b"early"
    runner.close()


def test_a_death_carries_its_exit_code() -> None:
    ending = _ended(_runner(lambda fd: _receive(fd) and None, ending=JailExit(3, None, 1.0, None, None, False, False)))
    assert (ending.exit.code, ending.during, ending.timed_out) == (3, Op.RUN, False)


def test_a_jail_that_is_lost_is_not_waited_for_though_its_socket_stays_open() -> None:
    release = threading.Event()
    runner = _runner(lambda _: release.wait(30) and None, ending=JailExit(None, None, 1.0, None, None, False, False))
    assert isinstance(runner._jail, ScriptedJail)
    runner._jail.lost = True
    ending = _ended(runner, limit_s=3600.0)
    release.set()
    assert not ending.timed_out


def test_cancelling_ends_a_wait() -> None:
    release = threading.Event()
    runner = _runner(lambda _: release.wait(10) and None, cancelled=lambda: True)
    with pytest.raises(Cancelled):
        runner.request(Op.RUN, b"", 5.0)
    release.set()


def _descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def test_nothing_is_left_open() -> None:
    before = _descriptors()
    runner = _runner(lambda _: None)
    _ended(runner)
    runner.close()
    assert _descriptors() - before == set()


def test_a_jail_that_fails_says_what_bubblewrap_said_and_leaves_nothing_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    runner = _runner(lambda _fd: None, failure=JailUnavailable("no jail", "a remedy"), said=b"first\nbwrap: no room\n")
    with pytest.raises(JailUnavailable, match="no jail: bwrap: no room"):
        runner.request(Op.START, b"", 5.0)
    runner.close()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def _late(*after_s: float) -> Script:
    """Replies that come so long after their requests."""

    def script(fd: int) -> None:
        for seconds in after_s:
            request = _receive(fd)
            time.sleep(seconds)
            with contextlib.suppress(OSError):
                os.write(fd, pack_frame(request.op | Op.REPLY, request.nonce, b"late"))

    return script


@pytest.fixture
def silent() -> Iterator[Script]:
    """No reply at all."""
    release = threading.Event()
    yield lambda fd: _receive(fd) and release.wait(60) and None
    release.set()


def test_time_without_a_processor_counts_for_no_limit() -> None:
    runner = _runner(_late(0.8))
    assert isinstance(runner._jail, ScriptedJail)
    runner._jail.starves = 0.9
    payload, wall_s = runner.request(Op.RUN, b"", 0.2)
    assert payload == b"late"
    assert 0.5 < runner.starved_s < wall_s
    runner.close()


def test_a_limit_is_not_extended_for_ever_and_not_for_sleep(silent: Script) -> None:
    for starves, at_least_s in ((0.0, 0.1), (0.9, 0.3), (1.0, 0.9)):
        runner = _runner(silent)
        assert isinstance(runner._jail, ScriptedJail)
        runner._jail.starves = starves
        started = time.monotonic()
        with pytest.raises(RunnerEnded) as ended:
            runner.request(Op.RUN, b"", 0.1)
        assert ended.value.ending.timed_out
        assert ended.value.ending.starved == (starves == 1.0), "then the machine is to blame"
        assert time.monotonic() - started > at_least_s


def test_making_machine_code_counts_for_no_limit_and_has_a_bound(
    monkeypatch: pytest.MonkeyPatch, silent: Script
) -> None:
    monkeypatch.setattr(process, "MOST_CODE_S", 60.0)
    runner = _runner(_late(0.6))
    assert isinstance(runner._jail, ScriptedJail)
    runner._jail.makes_code_s = 60.0
    assert runner.request(Op.RUN, b"", 0.2)[0] == b"late"
    runner.close()
    for makes_code_s, most_s in ((0.3, 60.0), (60.0, 0.6)):
        monkeypatch.setattr(process, "MOST_CODE_S", most_s)
        runner = _runner(silent)
        assert isinstance(runner._jail, ScriptedJail)
        runner._jail.makes_code_s = makes_code_s
        with pytest.raises(RunnerEnded) as ended:
            runner.request(Op.RUN, b"", 0.1)
        assert ended.value.ending.timed_out
        assert ended.value.ending.making_code == (makes_code_s > most_s)


def test_the_time_for_machine_code_is_one_for_all_requests_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_CODE_S", 2.0)
    # Each alone would be in time.
    runner = _runner(_late(1.0, 1.9))
    assert isinstance(runner._jail, ScriptedJail)
    runner._jail.makes_code_s = 60.0
    assert runner.request(Op.RUN, b"", 0.1)[0] == b"late"
    with pytest.raises(RunnerEnded) as ended:
        runner.request(Op.RUN, b"", 0.1)
    assert ended.value.ending.making_code
