"""Messages of the broker of files are never seen half written."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from kombu import Connection, Exchange, Queue

from store.queue import queues
from store.queue.inotify import FileWatch
from store.queue.queues import celery_config, prepare_broker
from store.settings import Settings

MESSAGES = 200


def _connect(settings: Settings) -> Connection:
    config = celery_config(settings)
    return Connection(
        config["broker_url"],
        transport=config["broker_transport"],
        transport_options=config["broker_transport_options"],
    )


def test_a_consumer_never_meets_an_unfinished_message(data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir)
    prepare_broker(settings)

    def produce() -> None:
        with _connect(settings) as connection:
            queue = connection.SimpleQueue("device.emulator")
            for number in range(MESSAGES):
                queue.put({"number": number, "padding": "x" * 20_000})
            queue.close()

    producers = [threading.Thread(target=produce) for _ in range(2)]
    with _connect(settings) as connection:
        queue = connection.SimpleQueue("device.emulator", no_ack=True)
        for producer in producers:
            producer.start()
        # Raises JSONDecodeError where a message is not whole.
        got = [queue.get(timeout=60).payload["number"] for _ in range(2 * MESSAGES)]
        queue.close()
    for producer in producers:
        producer.join()
    assert sorted(got) == sorted([*range(MESSAGES), *range(MESSAGES)])


def test_one_process_may_use_two_folders(data_dir: Path) -> None:
    for folder in (data_dir / "one", data_dir / "two"):
        settings = Settings(data_dir=folder)
        prepare_broker(settings)
        with _connect(settings) as connection:
            queue = connection.SimpleQueue("device.emulator", no_ack=True)
            queue.put({"folder": folder.name})
            assert queue.get(timeout=60).payload == {"folder": folder.name}
            queue.close()


def test_queues_can_be_bound_by_many_at_once(data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir)
    prepare_broker(settings)
    failures: list[Exception] = []

    def bind(number: int) -> None:
        try:
            with _connect(settings) as connection:
                for round_ in range(10):
                    exchange = Exchange(f"shared-{round_}")
                    Queue(f"queue-{number}", exchange, routing_key=f"key-{number}", channel=connection).declare()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=bind, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with _connect(settings) as connection:
        for round_ in range(10):
            bound = {binding.queue for binding in connection.channel().get_table(f"shared-{round_}")}
            assert bound == {f"queue-{number}" for number in range(6)}


def test_a_message_wakes_the_consumer_that_waits_for_it(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data_dir=data_dir)
    prepare_broker(settings)
    monkeypatch.setattr(queues, "FILE_POLL_S", 3600.0)
    waits, wait = threading.Event(), FileWatch.wait

    def noted(arrivals: FileWatch, seconds: float) -> None:
        waits.set()
        wait(arrivals, seconds)

    monkeypatch.setattr(FileWatch, "wait", noted)

    # kombu knows for all connections of a process what is bound: a queue of another name than those of other tests.
    def produce() -> None:
        for number in range(3):
            waits.wait()
            waits.clear()
            with _connect(settings) as connection:
                connection.SimpleQueue("device.waited-for").put(number)

    producer = threading.Thread(target=produce)
    producer.start()
    with _connect(settings) as connection:
        queue = connection.SimpleQueue("device.waited-for", no_ack=True)
        assert [queue.get().payload for _ in range(3)] == [0, 1, 2]
        with pytest.raises(queue.Empty):
            queue.get(timeout=0.01)
    producer.join()
