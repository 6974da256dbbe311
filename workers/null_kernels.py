"""Times the null kernel of challenges ahead, when a worker has nothing else to do: so no submission waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from judge.errors import Cancelled, InternalError
from judge.judgement import DeviceInfo
from store.boards.audits import is_idle
from store.submissions import recent_challenges
from workers.context import WorkerContext
from workers.gpu import DeviceService

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)

#: Before an hour is over, from which on a submission would have to confirm a baseline or wait for another.
_REFRESH_S = 2700.0
#: Baselines of challenges to which nobody submitted for so long are measured once, and not refreshed.
_RECENT = timedelta(days=1)
#: How long the worker looks no more once nothing is lacking, and how often it asks whether a submission waits.
_REST_S, _ASK_S = 60.0, 0.5


class NullKernels:
    """Times null kernels on a worker's device, a challenge at a time; what failed is not tried again."""

    def __init__(self, context: WorkerContext, device: DeviceInfo) -> None:
        self._context = context
        self._device = device
        self._failed: set[tuple[str, str]] = set()
        self._rests_until_s = 0.0
        self._asked_s = 0.0

    def time_one(self, service: DeviceService) -> bool:
        """Times what one challenge lacks, or what grew old of it. Returns False if there is nothing to do.

        Stops once a submission waits for the device.
        """
        if time.monotonic() < self._rests_until_s or self._is_wanted():
            return False
        context = self._context
        for pack, older_s in self._packs():
            key = pack.digest, pack.build.language
            if key in self._failed or not context.judge.lacks_null_kernel(pack, self._device, older_s=older_s):
                continue
            try:
                with service.job():
                    context.judge.time_null_kernel(pack, self._device, older_s=older_s, cancelled=self._is_wanted)
            except Cancelled:
                return False
            except InternalError as error:
                log.warning("null_kernel.failed", challenge=pack.slug, language=key[1], error=str(error))
                self._failed.add(key)
            else:
                log.info("null_kernel.timed", challenge=pack.slug, language=key[1])
            return True
        self._rests_until_s = time.monotonic() + _REST_S
        return False

    def _packs(self) -> Iterator[tuple[Pack, float | None]]:
        """Yields challenges in a language, those of the latest submissions first, with the age that is too old."""
        context = self._context
        with context.reads() as session:
            recent = recent_challenges(session, self._device.key, since=context.clock() - _RECENT)
        packs = context.packs.load()
        for slug, language in recent:
            if slug in packs and language in packs[slug].languages:
                yield packs[slug].in_language(language), _REFRESH_S
        for _, pack in sorted(packs.items()):
            yield pack, None

    def _is_wanted(self) -> bool:
        """Returns whether the worker has something better to do, or must stop."""
        if self._context.stopping.is_set():
            return True
        if time.monotonic() < self._asked_s + _ASK_S:
            return False
        self._asked_s = time.monotonic()
        with self._context.reads() as session:
            return not is_idle(session, self._device.key)
