"""Loads the packs of classes and contests from the database. A process keeps those that it has loaded last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.orm import Session

from store.teaching.private_packs import served_contents, served_sha256

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)

_MOST = 200


class PrivatePacks:
    """The private packs of one process, whose files lie below ``folder``. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: OrderedDict[tuple[str, str], Pack] = OrderedDict()

    def load(self, session: Session, slug: str, sha256: str) -> Pack | None:
        """Returns the pack that is served, with contents of this SHA-256; None if it was deleted meanwhile."""
        key = (slug, sha256)
        with self._lock:
            if key in self._loaded:
                self._loaded.move_to_end(key)
                return self._loaded[key]
        served = served_contents(session, slug)
        if served is None:
            return None
        from judge.packs.collection.archive import restore_pack
        from judge.packs.errors import PackError

        digest, contents = served
        folder = self._folder / sha256[:16]
        try:
            pack = restore_pack(contents, slug, digest, folder, confined=True)
        except PackError as error:
            log.error("private pack refused", problem=str(error))
            return None
        with self._lock:
            self._loaded[key] = pack
            while len(self._loaded) > _MOST:
                self._loaded.popitem(last=False)
        return pack

    def load_present(self, session: Session, slug: str) -> Pack | None:
        """Returns the pack that is served at present under a slug; None if there is none."""
        sha256 = served_sha256(session, slug)
        return None if sha256 is None else self.load(session, slug, sha256)
