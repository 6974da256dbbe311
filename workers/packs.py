"""Loads packs for a worker, and reloads them when a submission names an unknown or changed one.

A version that is gone from the disk is restored from its contents, which the database keeps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from judge.errors import InternalError
from store.teaching.private_packs import is_private_slug

if TYPE_CHECKING:
    from judge.packs.collection.live import LivePacks
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)


def in_language(pack: Pack, name: str) -> Pack:
    """Returns the pack for submissions in this language. Raises InternalError where it takes none any more."""
    try:
        return pack.in_language(name)
    except ValueError as error:
        raise InternalError(str(error)) from None


class Packs:
    """The worker's packs. ``given`` replaces those on disk, for tests. Thread-safe.

    Versions that are no longer on disk are restored below ``folder``. ``private`` returns what the database serves of
    a private pack, or None.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        folder: Path,
        *,
        given: Mapping[str, Pack] | None = None,
        private: Callable[[str], Pack | None] = lambda _: None,
    ) -> None:
        self._paths = tuple(paths)
        self._given = given
        self._packs: Mapping[str, Pack] | None = given
        self._live: LivePacks | None = None
        self._lock = threading.Lock()
        self._folder = folder
        self._private = private
        #: Versions whose contents the database is known to have.
        self._kept: set[str] = set()
        self._restored: dict[tuple[str, str], Pack] = {}

    def load(self) -> Mapping[str, Pack]:
        """Reads changed packs from disk and returns all by slug. Logs broken ones, which stay as they last were."""
        if self._given is not None:
            return self._given
        from judge.packs.collection.live import LivePacks

        if self._live is None:
            self._live = LivePacks(self._paths, lambda problem: log.warning("pack.broken", problem=str(problem)))
        else:
            self._live.refresh()
        self._packs = self._live
        return self._live

    def find(self, slug: str, digest: str) -> Pack:
        """Returns the current pack, which has the given ``digest`` unless the pack has changed since.

        Raises InternalError if there is no such pack.
        """
        if is_private_slug(slug):
            return self._find_private(slug)
        with self._lock:
            packs = self._packs if self._packs is not None else self.load()
            pack = packs.get(slug)
            if pack is None or pack.digest != digest:
                pack = self.load().get(slug)
        if pack is None:
            raise InternalError(f"this worker has no pack {slug}", "give the web and the workers the same pack paths")
        return pack

    def of(self, slugs: Iterable[str]) -> dict[str, Pack]:
        """Returns the current packs with these slugs, private ones too. Left out are those that there are not."""
        slugs, served = list(slugs), self.load()
        found = {slug: self._private(slug) if is_private_slug(slug) else served.get(slug) for slug in slugs}
        return {slug: pack for slug, pack in found.items() if pack is not None}

    def _find_private(self, slug: str) -> Pack:
        pack = self._private(slug)
        if pack is None:
            raise InternalError(f"there is no pack {slug} any more")
        return pack

    def _restore(self, slug: str, digest: str, data: bytes) -> Pack:
        from judge.packs.collection.archive import restore_pack
        from judge.packs.errors import PackError

        try:
            pack = restore_pack(data, slug, digest, self._folder, confined=is_private_slug(slug))
        except PackError as error:
            raise InternalError(f"this version of {slug} cannot be used: {error}") from None
        with self._lock:
            self._restored[slug, digest] = pack
        return pack

    def find_version(self, slug: str, digest: str, contents: Callable[[], bytes | None]) -> Pack:
        """Returns this version of a pack, present or past. ``contents`` reads it from the database.

        Raises InternalError if its contents were not kept, or are no longer a pack.
        """
        with self._lock:
            if (slug, digest) in self._restored:
                return self._restored[slug, digest]
        try:
            pack = self.find(slug, digest)
        except InternalError:
            pack = None
        if pack is None or pack.digest != digest:
            data = contents()
            if data is None:
                raise InternalError(f"the contents of version {digest[:12]} of {slug} were not kept")
            return self._restore(slug, digest, data)
        return pack

    def new_contents(self, pack: Pack, is_kept: Callable[[], bool]) -> bytes | None:
        """Returns the contents of a pack on disk if the database, which ``is_kept`` asks, does not have them."""
        if self._given is not None or pack.digest in self._kept:
            return None
        if is_kept():
            self._kept.add(pack.digest)
            return None
        from judge.packs.collection.archive import pack_contents

        return pack_contents(pack)
