"""All packs of an installation: those in the given folders and those of installed Python packages."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from judge.packs.collection.loader import FilesState, files_state, load_pack
from judge.packs.errors import PackError
from judge.packs.pack import Pack
from records import dataclass

ENTRY_POINTS = "gpujudge.packs"


class UnknownChallenge(KeyError):
    """There is no pack of that name; ``nearest`` lists similar names."""

    def __init__(self, slug: str, nearest: tuple[str, ...]) -> None:
        self.slug = slug
        self.nearest = nearest
        super().__init__(slug)

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        return f"there is no challenge '{self.slug}'{hint}"


@dataclass(frozen=True, slots=True)
class Registry:
    """The packs by slug, sorted, and the errors of those that could not be loaded."""

    packs: dict[str, Pack]
    problems: tuple[PackError, ...]

    @classmethod
    def load(cls, paths: Iterable[Path], *, entry_points: bool = True, only: str | None = None) -> Registry:
        """Loads every pack that it finds. A broken one is recorded in ``problems`` and does not affect the others.

        Each path is a pack, or a folder of packs. ``entry_points`` adds those of installed packages: an entry point of
        the group ``gpujudge.packs`` names a Python package whose folder is a pack or holds packs. ``only`` names the
        one challenge to load: that is quick, however many there are.
        """
        packs: dict[str, Pack] = {}
        problems: list[PackError] = []
        found = _pack_directories(paths, problems)
        if entry_points:
            found = itertools.chain(found, _installed(problems))
        for directory in found:
            if only is not None and directory.resolve().name != only:
                continue
            try:
                pack = _load_if_changed(directory)
            except PackError as problem:
                problems.append(problem)
                continue
            if pack.slug in packs:
                if packs[pack.slug].directory != pack.directory:
                    reason = f"'{pack.slug}' is already provided by {packs[pack.slug].directory}; rename or remove one"
                    problems.append(PackError(directory / "challenge.toml", "id", reason))
                continue
            packs[pack.slug] = pack
            if only is not None:
                break
        return cls(dict(sorted(packs.items())), tuple(problems))

    def find(self, slug: str) -> Pack:
        """Returns the pack of that name. Raises UnknownChallenge, with similar names."""
        if slug not in self.packs:
            raise UnknownChallenge(slug, tuple(difflib.get_close_matches(slug, self.packs, n=3, cutoff=0.5)))
        return self.packs[slug]


def slugs(paths: Iterable[Path], *, entry_points: bool = True) -> frozenset[str]:
    """Returns the names of all packs that ``Registry.load`` would look at, without loading any."""
    found = _pack_directories(paths, [])
    return frozenset(folder.name for folder in (itertools.chain(found, _installed([])) if entry_points else found))


#: The packs that this process has loaded, and the state of their files then.
_loaded: dict[Path, tuple[FilesState, Pack]] = {}


def _load_if_changed(directory: Path) -> Pack:
    """Loads a pack, or returns it as it was loaded before if its files are the same since: a pack is frozen data."""
    directory = directory.resolve()
    state = files_state(directory)
    known = _loaded.get(directory)
    if known is None or known[0] != state:
        known = state, load_pack(directory)
        _loaded[directory] = known
    return known[1]


def _pack_directories(folders: Iterable[Path], problems: list[PackError]) -> Iterator[Path]:
    for folder in folders:
        if (folder / "challenge.toml").is_file():
            yield folder
        elif folder.is_dir():
            # Hidden folders are packs that are still being copied.
            found = (path.parent for path in folder.glob("*/challenge.toml"))
            yield from sorted(path for path in found if not path.name.startswith("."))
        else:
            problems.append(PackError(folder, "", "is not a directory; give a pack or a folder of packs"))


def _installed(problems: list[PackError]) -> Iterator[Path]:
    """Yields the packs of installed Python packages."""
    # Here, since one that is given is found without it: it reads the metadata of everything that is installed.
    from importlib import metadata

    folders = []
    for entry_point in metadata.entry_points(group=ENTRY_POINTS):
        try:
            folders.append(Path(str(resources.files(entry_point.value))))
        except (ImportError, TypeError) as error:
            reason = f"the entry point cannot be imported: {error}"
            problems.append(PackError(Path(entry_point.value), entry_point.name, reason))
    yield from _pack_directories(folders, problems)
