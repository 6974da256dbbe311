"""The table ``[baselines]`` of ``challenge.toml``, as the pack has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge.packs.baselines import NONE, Baseline, Baselines, trusted
from judge.packs.errors import PackError
from judge.packs.form.schema import BaselineModel


def read_baselines(file: Path, rows: Mapping[str, BaselineModel | str]) -> Baselines:
    """Returns the baselines of the table's rows, those of an untrusted pack as refused. Raises PackError."""
    given = dict(rows)
    none = given.pop(NONE, "")
    calls = []
    for name, row in given.items():
        if not isinstance(row, BaselineModel):
            raise PackError(
                file, f"baselines.{name}", f"must be a table that names its library; only '{NONE}' is a text"
            )
        if row.compiles and row.module != "torch":
            raise PackError(file, f"baselines.{name}.compiles", "goes with module = 'torch', which compiles it")
        on_cpu = row.on_cpu and not row.compiles
        calls.append(Baseline(name, row.library, row.module, row.conditions, on_cpu, row.compiles))
    plain = {call.name for call in calls if not call.compiles}
    for call in calls:
        if call.compiles and call.compiles not in plain:
            raise PackError(file, f"baselines.{call.name}.compiles", "must name another row, which is no compiled one")
    if isinstance(none, BaselineModel):
        raise PackError(file, f"baselines.{NONE}", "must say why no library does this; name the function otherwise")
    if none and calls:
        raise PackError(file, f"baselines.{NONE}", f"contradicts '{calls[0].name}'; leave one of them out")
    return trusted(file.parent, Baselines(tuple(calls), none))
