"""All that workers of tests import, at once: what they import when they are started, and late."""

from store.start import importing

with importing():
    import sqlite3

    import celery.app.control
    import celery.concurrency.solo
    import celery.fixups.django
    import celery.loaders.app
    import celery.worker.autoscale
    import celery.worker.consumer.delayed_delivery
    import celery.worker.strategy
    import kombu.transport.redis
    import psycopg

    import store.queue.file_broker
    from tests.integration.workers import worker_process

__all__ = ["celery", "kombu", "psycopg", "sqlite3", "store", "worker_process"]
