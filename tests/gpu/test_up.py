"""The whole of it with a GPU: `gpujudge up` offers the device, and judges and ranks what is sent over HTTP."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from benchmarks.stack import running_stack
from judge.backends.registry import BUILTIN_BACKENDS
from judge.settings import JudgeSettings
from tests.services import redis_server

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

KERNEL = """
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
"""


@pytest.mark.parametrize("broker", ["files", "redis"])
def test_a_submission_over_http(tmp_path: Path, broker: str) -> None:
    device = BUILTIN_BACKENDS.find_device("cuda:0", JudgeSettings(data_dir=tmp_path))
    with contextlib.ExitStack() as services:
        env = {}
        if broker == "redis":
            try:
                env["GPUJUDGE_REDIS_URL"] = services.enter_context(redis_server.server())
            except redis_server.Unavailable as error:
                pytest.skip(str(error))
        stack = services.enter_context(running_stack(tmp_path, "--device", "cuda:0", env=env))
        client = services.enter_context(stack.client())
        body = {"challenge": "vector-add", "device": device.key, "mode": "submit", "source": KERNEL}
        answer = client.post("submissions", json=body)
        assert answer.status_code == 201, answer.text
        until = time.monotonic() + 120
        while (status := client.get(f"submissions/{answer.json()['id']}").json())["state"] != "done":
            assert time.monotonic() < until, status
            time.sleep(0.1)
        assert status["verdict"] == "AC", status["judgement"]
        measurement = status["judgement"]["measurement"]
        assert measurement["metric"] == "time_s"
        assert measurement["gb_per_s"] > 0
        board = client.get("leaderboards/vector-add", params={"device": device.key}).json()
        assert [entry["username"] for entry in board["entries"]] == [stack.username]
