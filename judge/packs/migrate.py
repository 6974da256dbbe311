"""Rewrites a ``challenge.toml`` of schema 1 in schema 2. What it says stays the same; comments are lost.

A case whose id, sizes and nothing else are given becomes a named row. Everything that follows from the signature is
left out.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.packs.errors import PackError

_MAX_LINE = 120

Table = Mapping[str, Any]


def migrate_pack(directory: Path) -> Path:
    """Rewrites the file in ``directory``, removes its ``starter.cu`` and returns the file. Raises PackError."""
    file = directory / "challenge.toml"
    try:
        old = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PackError(file, "", f"cannot be read: {error}") from None
    if old.get("schema") != 1:
        raise PackError(file, "schema", f"is {old.get('schema')}; only schema 1 is rewritten")
    try:
        text = migrated(old)
    except (KeyError, TypeError, AttributeError) as error:
        raise PackError(file, "", f"is not valid in schema 1: {type(error).__name__}: {error}") from None
    file.write_text(text, encoding="utf-8")
    (directory / "starter.cu").unlink(missing_ok=True)
    return file


def migrated(old: Table) -> str:
    """Returns the text in schema 2 of a file in schema 1, given as the table that it holds."""
    return "\n".join(_lines(old)).strip() + "\n"


def _lines(old: Table) -> Iterator[str]:
    axes, arguments = list(old["axes"]), old["arguments"]
    signature = ", ".join(f"{argument['type']} {argument['name']}" for argument in arguments)
    yield "schema = 2"
    for key in ("title", "version", "difficulty", "tags", "license"):
        if key in old and (key, old[key]) != ("license", "Apache-2.0"):
            yield f"{key} = {_value(old[key])}"
    yield f"signature = {_value(f'void solve({signature})')}"
    plain = [case for case in old["cases"] if set(case) <= {"id", "group", "axes"}]
    tables: list[str] = []
    for key, group in (("sample_sizes", "sample"), ("sizes", "hidden")):
        rows = {case["id"]: _row(case, axes) for case in plain if case.get("group", "hidden") == group}
        line = f"{key} = {_value(rows)}"
        if len(line) > _MAX_LINE:
            tables += _table(key, rows)
        elif rows:
            yield line
    timed = [case for case in old["benchmarks"] if set(case) <= {"id", "devices", "axes"}]
    kinds = dict.fromkeys(kind for case in timed for kind in case["devices"])
    if kinds:
        rows_of = {kind: {case["id"]: _row(case, axes) for case in timed if kind in case["devices"]} for kind in kinds}
        yield f"benchmark_sizes = {_value(rows_of)}"
    if old.get("links"):
        yield f"links = {_value(old['links'])}"
    yield from tables
    for name in ("limits", "build", "emulator"):
        if name in old:
            yield from _table(name, old[name])
    yield from [
        "",
        "[axes]",
        *(f"{name} = {_value(_without(axis, min=1, multiple_of=1))}" for name, axis in old["axes"].items()),
    ]
    if old.get("parameters"):
        yield from ["", "[parameters]", *(f"{name} = {_value(it)}" for name, it in old["parameters"].items())]
    yield from _scalars(old)
    for argument in arguments:
        if argument["role"] != "scalar":
            yield from _array(argument)
    yield from _table(
        "tolerance", {name: _without(rule, accumulate="float32") for name, rule in old["tolerance"].items()}
    )
    yield from _table("bench", _without(old["bench"], budget_s=6, arithmetic="fp32"))
    for case in old["cases"]:
        if case not in plain:
            yield from _full("cases", case)
    for case in old["benchmarks"]:
        if case not in timed:
            yield from _full("benchmarks", case)


def _scalars(old: Table) -> Iterator[str]:
    known = {*old["axes"], *old.get("parameters", {})}
    values = {
        argument["name"]: argument.get("value", argument["name"])
        for argument in old["arguments"]
        if argument["role"] == "scalar" and argument.get("value", argument["name"]) != argument["name"]
    }
    missing = {name: value for name, value in values.items() if name not in known or value != name}
    if missing:
        yield from _table("scalars", missing)


def _array(argument: Table) -> Iterator[str]:
    is_const = argument["type"].startswith("const ")
    table: dict[str, Any] = {"shape": argument["shape"]}
    if argument["role"] != ("in" if is_const else "out"):
        table["role"] = argument["role"]
    for old_key, key in (("distribution", "data"), ("initial", "initial"), ("description", "description")):
        if old_key in argument:
            table[key] = argument[old_key]
    yield from _table(f"arrays.{argument['name']}", table)


def _full(kind: str, case: Table) -> Iterator[str]:
    yield from ["", f"[[{kind}]]"]
    for key, value in case.items():
        if key == "distributions":
            yield from (f"data.{name} = {_value(data)}" for name, data in value.items())
        else:
            yield f"{key} = {_value(value)}"


def _table(name: str, table: Table) -> Iterator[str]:
    yield from ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]


def _row(case: Table, axes: Sequence[str]) -> list[int]:
    return [case["axes"][axis] for axis in axes]


def _without(table: Table, **defaults: Any) -> dict[str, Any]:
    """Returns the table without what only says the default."""
    return {key: value for key, value in table.items() if key not in defaults or defaults[key] != value}


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:_}" if abs(value) >= 10000 else str(value)
        case float():
            short = f"{value:g}"
            return short.replace("e+0", "e").replace("e+", "e") if float(short) == value else repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Mapping():
            return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
        case Sequence():
            return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} has no form in TOML")
