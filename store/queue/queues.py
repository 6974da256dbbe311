"""Names the queues and tasks and configures Celery, for the website (which rings) and the workers.

A ring names no job: the worker claims the oldest job of its stage from the database. So a lost, duplicate or late ring
affects only latency.
"""

from __future__ import annotations

from typing import Any

from store.settings import Settings

BUILD_QUEUE = "build"
BUILD_TASK = "gpujudge.build"
RUN_TASK = "gpujudge.run"

#: How often a worker polls the folder of the file-based broker where inotify does not work.
FILE_POLL_S = 0.1


def device_queue(device_key: str) -> str:
    """Returns the name of the queue for built jobs of a device."""
    return f"device.{device_key}"


def celery_config(settings: Settings) -> dict[str, Any]:
    """Returns the configuration of every Celery app of this project."""
    common: dict[str, Any] = {
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        "worker_detect_quorum_queues": False,
        # Remote control and events need fan-out, which the file-based broker handles badly and nothing here uses.
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "task_publish_retry": False,
        "enable_utc": True,
    }
    if settings.redis_url is not None:
        return common | {
            "broker_url": settings.redis_url,
            "broker_transport_options": {
                "global_keyprefix": "gpujudge:",
                "socket_connect_timeout": 2,
                "socket_keepalive": True,
                # A ring that cannot be delivered is dropped at once: workers also poll the database.
                "max_retries": 0,
                "interval_start": 0,
                "interval_step": 0,
                "interval_max": 0,
                # Redis redelivers an unacknowledged ring after this many seconds; the sweeper rings again much earlier.
                "visibility_timeout": 3600,
            },
        }
    folder = settings.data_dir / "broker"
    return common | {
        "broker_url": "filesystem://localhost//",
        "broker_transport": "store.queue.file_broker:Transport",
        "broker_transport_options": {
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
            "store_processed": False,
            "polling_interval": FILE_POLL_S,
        },
    }


def prepare_broker(settings: Settings) -> None:
    """Creates the folders of the file-based broker. Does nothing for Redis."""
    if settings.redis_url is None:
        for name in ("messages", "control"):
            (settings.data_dir / "broker" / name).mkdir(mode=0o700, parents=True, exist_ok=True)
