import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judge.errors import Cancelled
from judge.gpu.lock import device_lock
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

GPU = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "abc"})
OTHER = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "def"})


def test_one_job_at_a_time_on_one_gpu(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    with device_lock(GPU, settings):
        with pytest.raises(Cancelled), device_lock(GPU, settings, cancelled=lambda: True):
            pytest.fail("held twice")
        with device_lock(OTHER, settings):
            pass
    with device_lock(GPU, settings):
        pass


def test_those_who_share_a_gpu_hold_it_together_and_keep_out_who_wants_it_alone(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    with (
        device_lock(GPU, settings, shared=True),
        device_lock(GPU, settings, shared=True),
        pytest.raises(Cancelled),
        device_lock(GPU, settings, cancelled=lambda: True),
    ):
        pytest.fail("alone beside others")
    with (
        device_lock(GPU, settings),
        pytest.raises(Cancelled),
        device_lock(GPU, settings, shared=True, cancelled=lambda: True),
    ):
        pytest.fail("beside one who is alone")


def test_who_wants_a_gpu_alone_gets_it_before_others_share_it_anew(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    waits, got = threading.Event(), threading.Event()

    def is_waiting() -> bool:
        waits.set()
        return False

    def alone() -> None:
        with device_lock(GPU, settings, cancelled=is_waiting):
            got.set()

    with device_lock(GPU, settings, shared=True):
        thread = threading.Thread(target=alone)
        thread.start()
        assert waits.wait(30)
        with pytest.raises(Cancelled), device_lock(GPU, settings, shared=True, cancelled=lambda: True):
            pytest.fail("it overtook")
    assert got.wait(30)
    thread.join()


def test_a_process_that_dies_lets_go(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; from judge.gpu.lock import device_lock;"
        "from judge.judgement import DeviceInfo; from judge.settings import JudgeSettings;"
        "lock = device_lock(DeviceInfo('gpu', 'cuda', 'GPU', '9.0', {'uuid_hash': 'abc'}),"
        " JudgeSettings(data_dir=pathlib.Path(sys.argv[1]))); lock.__enter__(); os._exit(0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    home = Path(__file__).resolve().parents[4]
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=environment, cwd=home)
    with device_lock(GPU, JudgeSettings(data_dir=tmp_path), cancelled=lambda: True):
        assert (tmp_path / "locks" / "gpu-abc.lock").exists()
