"""Checks the ``.npy`` files of a pack: each is used, and they leave the timed calls something that changes."""

from __future__ import annotations

from collections.abc import Iterator

from judge.packs import sizes
from judge.packs.data.distributions import FromFile, varies
from judge.packs.pack import Case, Pack
from judge.verify.findings import Finding, warning


def check_data_files(pack: Pack) -> Iterator[Finding]:
    """Yields files that no input comes from, and benchmarks all of whose calls get the same rows of files."""
    for path in sorted(pack.directory.glob("*.npy")):
        if path.name not in pack.data_files:
            yield warning("file-unused", path, "", "no input comes from it; name it in challenge.toml, or remove it")
    for case in pack.benchmarks:
        if (name := _never_changing(pack, case)) is not None:
            message = (
                f"every timed call gets all rows of {name}, and no other input changes, so a kernel may return a "
                "stored answer; let the file have more rows than the benchmark takes"
            )
            yield warning("file-rows", pack.directory / "challenge.toml", f"benchmarks.{case.id}", message)


def _never_changing(pack: Pack, case: Case) -> str | None:
    """Returns the name of a file whose rows are the only contents, and always the same; None if anything changes."""
    name = None
    for argument in pack.inputs:
        data = case.distribution(argument)
        if data is None or varies(data, sizes.shape(case, argument)):
            return None
        if isinstance(data, FromFile):
            name = data.path.name
    return name
