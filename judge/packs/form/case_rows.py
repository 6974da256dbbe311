"""Lists the cases of a ``challenge.toml``: rows of sizes first, with ids made from them, then those in full."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from judge.packs.errors import PackError
from judge.packs.form.schema import BenchmarkModel, CaseModel, ChallengeModel, Row, Rows

_MAX_ID = 64


class Cases:
    """The cases in a file. All methods raise PackError for what contradicts."""

    def __init__(self, file: Path, model: ChallengeModel) -> None:
        self._file = file
        self._model = model
        self._seen: set[str] = set()

    def functional(self) -> Iterator[CaseModel]:
        """Yields the cases that are only judged, each with an id of its own."""
        groups: tuple[tuple[Literal["sample", "hidden"], Rows, str], ...] = (
            ("sample", self._model.sample_sizes, "sample_sizes"),
            ("hidden", self._model.sizes, "sizes"),
        )
        for group, rows, key in groups:
            for case_id, axes in self._rows(rows, key):
                self._claim(case_id, key)
                # Its parts are valid already.
                yield CaseModel.model_construct(id=case_id, group=group, axes=axes)
        for number, case in enumerate(self._model.cases):
            case_id = case.id or self._made_id(case.axes)
            self._claim(case_id, f"cases.{number}.id")
            yield case.model_copy(update={"id": case_id})

    def benchmarks(self) -> Iterator[BenchmarkModel]:
        """Yields the timed cases. A row of several kinds of device is one case. Call it after ``functional``."""
        by_id: dict[str, tuple[dict[str, int], list[str]]] = {}
        for kind, rows in self._model.benchmark_sizes.items():
            for given_id, axes in self._rows(rows, f"benchmark_sizes.{kind}"):
                case_id = f"{given_id}-timed" if given_id in self._seen else given_id
                others, devices = by_id.setdefault(case_id, (axes, []))
                if others != axes:
                    raise self._error(f"benchmark_sizes.{kind}", f"the id '{case_id}' is used twice")
                devices.append(kind)
        for case_id, (axes, devices) in by_id.items():
            self._claim(case_id, "benchmark_sizes")
            yield BenchmarkModel(id=case_id, axes=axes, devices=tuple(devices))
        for number, case in enumerate(self._model.benchmarks):
            case_id = case.id or self._made_id(case.axes)
            self._claim(case_id, f"benchmarks.{number}.id")
            yield case.model_copy(update={"id": case_id})
        if not by_id and not self._model.benchmarks:
            raise self._error("benchmark_sizes", "is missing; give sizes to time, as in { cuda = [[1_000_000]] }")

    def _rows(self, rows: Rows, key: str) -> Iterator[tuple[str, dict[str, int]]]:
        named: list[tuple[str | None, Row]] = (
            list(rows.items()) if isinstance(rows, dict) else [(None, r) for r in rows]
        )
        for name, row in named:
            if len(row) != len(self._model.axes):
                reason = f"{list(row)} must have a value for each axis: {', '.join(self._model.axes)}"
                raise self._error(key, reason)
            axes = dict(zip(self._model.axes, row, strict=True))
            yield name or self._made_id(axes), axes

    def _made_id(self, axes: dict[str, int]) -> str:
        """Returns an id such as n-4 or m-3-n-5, or only the numbers where that would be too long."""
        made = "-".join(f"{re.sub('_+', '-', name.lower()).strip('-')}-{size}" for name, size in axes.items())
        return made if len(made) <= _MAX_ID else "-".join(str(size) for size in axes.values())

    def _claim(self, case_id: str, key: str) -> None:
        if case_id in self._seen:
            raise self._error(key, f"the id '{case_id}' is used twice; give one of the two cases an id of its own")
        self._seen.add(case_id)

    def _error(self, key: str, reason: str) -> PackError:
        return PackError(self._file, key, reason)
