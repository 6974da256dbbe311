import dataclasses
import json
from pathlib import Path

from judge.gpu.calibration import Calibration, load_calibration, store_calibration
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

GPU = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "abc", "driver": "580.1"})
MEASURED = Calibration("abc", "GPU", "580.1", "2026-01-02T03:04:05Z", 4e12, 3.5e12, {"fp32": 6e13, "fp16": 9e14})


def test_what_was_stored_is_loaded(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    assert load_calibration(settings, GPU) is None
    incomplete = dataclasses.replace(MEASURED, incomplete=("fp16",))
    store_calibration(settings, GPU, MEASURED)
    store_calibration(settings, GPU, incomplete)
    assert load_calibration(settings, GPU) == incomplete
    assert [path.name for path in (tmp_path / "calibration").iterdir()] == ["abc.json"]
    assert incomplete.bounds("fp32")
    assert not incomplete.bounds("fp16")
    assert not incomplete.bounds("int8")


def test_another_board_driver_or_version_has_none(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    path = store_calibration(settings, GPU, MEASURED)
    assert load_calibration(settings, dataclasses.replace(GPU, details={"uuid_hash": "def"})) is None
    newer = dataclasses.replace(GPU, details={**GPU.details, "driver": "590.0"})
    assert load_calibration(settings, newer) is None
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 0}))
    assert load_calibration(settings, GPU) is None
    path.write_text("{")
    assert load_calibration(settings, GPU) is None
