"""A batch on the emulator, by the command and from Python: bad files, an end by kill -9, and going on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gpujudge
from judge.settings import JudgeSettings
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

RIGHT = (ROOT / "challenges/vector-add/submissions/accepted/grid_stride.cu").read_text()
WRONG = (ROOT / "challenges/vector-add/submissions/wrong_answer/nothing_yet.cu").read_text()
COMMAND = [sys.executable, str(ROOT / "gpujudge.py"), "judge"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three right and two wrong kernels, a pipe, junk and a file for an unknown challenge."""
    made = tmp_path / "kernels/vector-add"
    made.mkdir(parents=True)
    for number in range(3):
        (made / f"right{number}.cu").write_text(f"{RIGHT}// {number}\n")
    for number in range(2):
        (made / f"wrong{number}.cu").write_text(f"{WRONG}// {number}\n")
    os.mkfifo(made / "pipe.cu")
    (made / "junk.cu").write_bytes(bytes(range(256)) * 40)
    (made / "unknown.cu").write_text(f"// gpujudge: challenge=no-such\n{RIGHT}")
    return made.parent


def environment(settings: JudgeSettings) -> dict[str, str]:
    return {**os.environ, "GPUJUDGE_DATA_DIR": str(settings.data_dir)}


def lines_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def verdicts(out: Path) -> dict[str, str | None]:
    lines = lines_of(out)
    found = {Path(line["file"]).stem: line["verdict"] for line in lines}
    assert len(found) == len(lines), "a file has two lines"
    return found


EXPECTED = {
    **dict.fromkeys(("right0", "right1", "right2"), "AC"),
    **dict.fromkeys(("wrong0", "wrong1"), "WA"),
    "junk": "CE",
    "pipe": None,
    "unknown": None,
}


@pytest.mark.slow(30)
def test_a_batch_goes_on_after_kill_9_of_itself_and_of_what_judges(
    folder: Path, tmp_path: Path, judge_settings: JudgeSettings
) -> None:
    out = tmp_path / "out.jsonl"
    argv = [*COMMAND, str(folder), "--jsonl", str(out), "--untimed", "--jobs", "1"]
    first = subprocess.Popen(argv, env=environment(judge_settings), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not any(line["verdict"] == "AC" for line in lines_of_whole(out)) and time.monotonic() < deadline:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = {line["file"]: line for line in lines_of_whole(out)}
    assert len(before) < len(EXPECTED)

    again = subprocess.Popen([*argv, "--resume"], env=environment(judge_settings), stderr=subprocess.PIPE, text=True)
    worker = None
    while worker is None and again.poll() is None and time.monotonic() < deadline:
        worker = next(iter(workers_of(again.pid)), None)
    if worker is not None:
        os.kill(worker, signal.SIGKILL)
    _, said = again.communicate(timeout=200)
    assert verdicts(out) == EXPECTED
    after = {line["file"]: line for line in lines_of(out)}
    assert all(after[name] == line for name, line in before.items() if line["verdict"] is not None)
    assert again.returncode == 11, said
    assert "8 of 8" in said


def lines_of_whole(out: Path) -> list[dict[str, Any]]:
    """Returns the lines that are there in whole."""
    text = out.read_text() if out.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def workers_of(pid: int) -> Iterator[int]:
    """Yields the worker processes that a batch has started."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread or a process may end between the two looks at it.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in (task / "children").read_text().split():
                if b"judge.batch.worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                    yield int(child)


@pytest.mark.slow(15)
def test_from_python(judge_settings: JudgeSettings) -> None:
    kernels = [gpujudge.Kernel(RIGHT, "vector-add", "right"), gpujudge.Kernel(WRONG, "vector-add", "wrong", seed=5)]
    with gpujudge.Judge(data_dir=judge_settings.data_dir, seed=3) as judge:
        found = {result.kernel.name: result for result in judge.judge_all(iter(kernels))}
        unknown = judge.judge(RIGHT, "no-such")
    right, wrong = found["right"], found["wrong"]
    assert right.accepted
    assert right.device == "emulator"
    assert right.seed == 3
    assert right.time_s is not None
    assert right.interval_s is None  # a modelled time has none
    assert Counter(case.group for case in right.cases)["benchmark"] == 1
    assert (wrong.verdict, wrong.seed, wrong.time_s) == ("WA", 5, None)
    assert (unknown.verdict, unknown.judgement) == (None, None)
    assert "no challenge 'no-such'" in unknown.message
    with pytest.raises(gpujudge.JudgeError, match="closed"):
        judge.judge(RIGHT, "vector-add")


def test_from_an_event_loop(judge_settings: JudgeSettings) -> None:
    async def kernels() -> AsyncIterator[gpujudge.Kernel]:
        for name, source in (("right", RIGHT), ("wrong", WRONG)):
            yield gpujudge.Kernel(source, "vector-add", name)

    async def all_of_them() -> dict[str, str | None]:
        async with gpujudge.Judge(untimed=True, data_dir=judge_settings.data_dir) as judge:
            first = await judge.judge_async(RIGHT, "vector-add")
            assert first.accepted
            assert first.time_s is None
            return {result.kernel.name: result.verdict async for result in judge.judge_all_async(kernels())}

    # The browser's tests leave a loop behind in the main thread.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(all_of_them())).result() == {"right": "AC", "wrong": "WA"}


def test_what_the_judge_lacks_is_raised(judge_settings: JudgeSettings) -> None:
    with (
        gpujudge.Judge(devices=["cuda:77"], data_dir=judge_settings.data_dir) as judge,
        pytest.raises(gpujudge.JudgeError, match="unknown device 'cuda:77'"),
    ):
        judge.judge(RIGHT, "vector-add")


def test_a_program_s_own_modules_stay_its_own(tmp_path: Path, judge_settings: JudgeSettings) -> None:
    (tmp_path / "judge.py").write_text("MINE = True\n")
    program = (
        "import sys; sys.path.append(sys.argv[1]); import judge, gpujudge\n"
        "with gpujudge.Judge(untimed=True, data_dir=sys.argv[2]) as one:\n"
        "    print(judge.MINE, one.judge(sys.argv[3], 'vector-add').verdict)\n"
    )
    (tmp_path / "program.py").write_text(program)
    argv = [sys.executable, "program.py", str(ROOT), str(judge_settings.data_dir), RIGHT]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout == "True AC\n"
