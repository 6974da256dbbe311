"""The broker's configuration, and a doorbell that nobody hears."""

from __future__ import annotations

import time
from pathlib import Path

from store.models import Job, State, Submission
from store.queue.doorbell import make_doorbell, ring, ring_queue
from store.queue.queues import celery_config, device_queue
from store.settings import Settings


def messages(settings: Settings) -> list[str]:
    return sorted(path.name.split(".", 1)[1] for path in (settings.data_dir / "broker" / "messages").iterdir())


def test_rings_go_to_the_queue_that_the_state_asks_for(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with make_doorbell(settings) as doorbell:
        assert ring(doorbell, Submission(state=State.QUEUED, device_key="emulator"))
        assert ring(doorbell, Job(state=State.BUILT, device_key="nvidia-h200"))
        assert not ring(doorbell, Submission(state=State.DONE, device_key="emulator"))
    assert messages(settings) == ["build.msg", "device.nvidia-h200.msg"]


def test_a_broker_that_is_away_costs_no_exception_and_little_time(tmp_path: Path) -> None:
    began_s = time.monotonic()
    with make_doorbell(Settings(data_dir=tmp_path, redis_url="redis://127.0.0.1:1/0")) as doorbell:
        assert not ring_queue(doorbell, "build")
    assert time.monotonic() - began_s < 3


def test_a_data_folder_that_is_full_or_gone_is_a_broker_that_is_away(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with make_doorbell(settings) as doorbell:
        (tmp_path / "broker" / "messages").rmdir()
        (tmp_path / "broker" / "messages").write_text("not a folder")
        assert not ring_queue(doorbell, "build")


def test_brokers(tmp_path: Path) -> None:
    files = celery_config(Settings(data_dir=tmp_path))
    assert files["broker_url"].startswith("filesystem:")
    assert files["broker_transport_options"]["polling_interval"] <= 0.1
    redis = celery_config(Settings(data_dir=tmp_path, redis_url="redis://h/1"))
    assert redis["broker_url"] == "redis://h/1"
    for config in (files, redis):
        assert config["task_acks_late"]
        assert config["worker_prefetch_multiplier"] == 1
    assert device_queue("emulator") == "device.emulator"
