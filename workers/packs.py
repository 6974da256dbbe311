"""The packs as a worker sees them: loaded once, and again when a submission names one that is not the same here."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from judge.errors import InternalError

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)


class Packs:
    """``given`` are used instead of those on disk, for tests."""

    def __init__(self, paths: Sequence[Path], *, given: Mapping[str, Pack] | None = None) -> None:
        self._paths = tuple(paths)
        self._given = given
        self._packs: Mapping[str, Pack] | None = given
        self._lock = threading.Lock()

    def load(self) -> Mapping[str, Pack]:
        """All of them, read now. Broken ones are logged and left out."""
        if self._given is not None:
            return self._given
        from judge.packs.registry import Registry

        registry = Registry.load(self._paths)
        for problem in registry.problems:
            log.warning("pack.broken", problem=str(problem))
        self._packs = registry.packs
        return registry.packs

    def find(self, slug: str, digest: str) -> Pack:
        """The pack that is served now, which has the asked-for ``digest`` unless it was changed since. Raises
        InternalError when there is none."""
        with self._lock:
            packs = self._packs if self._packs is not None else self.load()
            pack = packs.get(slug)
            if pack is None or pack.digest != digest:
                pack = self.load().get(slug)
        if pack is None:
            raise InternalError(f"this worker has no pack {slug}", "give the web and the workers the same pack paths")
        return pack
