"""`gpujudge up`: it judges, survives the death of its parts, and leaves no process behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from benchmarks.stack import Stack, running_stack
from emulator.cxx import SHARED_FOLDER
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

KERNEL = """
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
"""


def _processes(data_dir: Path) -> dict[int, str]:
    """Every living process that was started with this data folder, with its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if f"GPUJUDGE_DATA_DIR={data_dir}".encode() in environment and command:
                found[int(entry.name)] = command
    return found


def _eventually(look: Callable[[], bool], timeout_s: float = 120.0) -> bool:
    until = time.monotonic() + timeout_s
    while not look():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def _submit(client: httpx.Client, source: str = KERNEL, mode: str = "run") -> str:
    answer = client.post(
        "submissions", json={"challenge": "vector-add", "device": "emulator", "mode": mode, "source": source}
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _verdict(client: httpx.Client, public_id: str) -> str | None:
    done = _eventually(lambda: client.get(f"submissions/{public_id}").json()["state"] in ("done", "dead"), 90)
    assert done, client.get(f"submissions/{public_id}").json()
    return str(client.get(f"submissions/{public_id}").json()["verdict"])


on_one_stack = pytest.mark.xdist_group("stack")


@on_one_stack
@pytest.mark.slow(20)
def test_workers_that_are_killed_come_back_and_nothing_is_lost(stack: Stack) -> None:
    with stack.client() as client:
        workers = {pid: line for pid, line in _processes(stack.data_dir).items() if re.search(r"-m workers", line)}
        assert len(workers) >= 3
        public_id = _submit(client)
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        assert _verdict(client, public_id) == "AC"


@on_one_stack
def test_a_second_one_with_the_same_data_is_refused(stack: Stack) -> None:
    done = _up_refused(stack, "--port", "0")
    assert done.returncode == 1
    assert "already up" in done.stderr


@on_one_stack
def test_a_port_that_is_taken_is_named(stack: Stack, tmp_path: Path) -> None:
    port = stack.address.rpartition(":")[2]
    done = _up_refused(stack, "--port", port, data_dir=tmp_path / "other")
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr


def _up_refused(stack: Stack, *arguments: str, data_dir: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "up", *arguments],
        env={**os.environ, "GPUJUDGE_DATA_DIR": str(data_dir or stack.data_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )


@pytest.mark.slow(15)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("library")
def test_no_process_is_left_behind(tmp_path: Path, number: signal.Signals) -> None:
    data_dir = tmp_path / "data"
    with running_stack(data_dir) as stack:
        with stack.client() as client:
            # In the middle of a build: the compiler in its jail must go as well.
            _submit(client)
            assert _eventually(lambda: len(_processes(data_dir)) > 4)
        stack.process.send_signal(number)
        assert stack.process.wait(timeout=30) == 0
        assert _eventually(lambda: _processes(data_dir) == {}, 2), _processes(data_dir)


@pytest.mark.slow(20)
@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.usefixtures("library")
def test_with_postgresql_and_redis(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    data_dir = tmp_path / "data"
    env = {"GPUJUDGE_DATABASE_URL": postgres_url, "GPUJUDGE_REDIS_URL": redis_url}
    with running_stack(data_dir, env=env) as stack, stack.client() as client:
        assert httpx.get(f"{stack.address}/readyz").json()["broker"] == "ok"
        assert _verdict(client, _submit(client, mode="submit")) == "AC"
        assert not (data_dir / "gpujudge.db").exists()


@pytest.mark.slow(15)
def test_a_failed_build_is_on_the_page_and_the_website_comes_all_the_same(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    compiler = tmp_path / "g++"
    compiler.write_text(
        f'#!/bin/sh\ncase "$1" in --version) echo "g++ 9.4.0"; exit;; esac\n'
        f"while ! [ -e {gate} ]; do sleep 0.05; done\necho 'unknown flag: -std=c++20' >&2; exit 1\n"
    )
    compiler.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    environment = {key: value for key, value in os.environ.items() if key != SHARED_FOLDER}
    with subprocess.Popen(
        [sys.executable, "-m", "cli.main", "up", "--port", address.rpartition(":")[2]],
        env={**environment, "GPUJUDGE_DATA_DIR": str(tmp_path / "data"), "CXX": str(compiler)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    ) as process:
        try:
            pages: list[httpx.Response] = []

            def says(wanted: str) -> bool:
                with suppress(httpx.TransportError):
                    pages.append(httpx.get(address, timeout=30))
                return bool(pages) and wanted in pages[-1].text

            assert _eventually(lambda: says("<progress")), pages[-1:]
            assert pages[-1].status_code == 503
            gate.touch()
            assert _eventually(lambda: says('role="alert"')), pages[-1:]
            assert "unknown flag: -std=c++20" in pages[-1].text
            assert "The compiler is g++ 9.4.0. If it is older than g++ 11, install a newer one" in pages[-1].text
            assert _eventually(lambda: says("Challenges")), pages[-1:]
            assert pages[-1].status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 0
