"""Fills a statement in: ``{{...}}`` stands for what the TOML says, so that no size or limit is written twice.

Known are ``signature``, ``constraints`` (a list: the ranges of axes and shown parameters, and the pack's constraints),
``N.min`` and ``N.max`` of an axis or parameter, ``limits.wall_s``, ``limits.memory_mib`` and ``benchmarks`` (a list of
what is timed on which device).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.kinds import KINDS
from judge.packs.form.expressions import Number
from judge.packs.pack import Axis, Case, Pack, Parameter

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")

#: A heading, with its level and text, and the fence of a code block.
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class StatementError(ValueError):
    """A placeholder that is not known."""


def read_statement(pack: Pack) -> str:
    """Returns the pack's statement in Markdown, sizes and limits filled in. Raises StatementError, OSError."""
    return fill_statement((pack.directory / "statement.md").read_text(encoding="utf-8"), pack)


def without_hints(markdown: str) -> str:
    """Returns the statement without its section of hints: to the next heading of its level or above, or to the end."""
    kept: list[str] = []
    fence, hidden_level = "", 0
    for line in markdown.splitlines(keepends=True):
        heading = None if fence else _HEADING.fullmatch(line)
        if heading is not None and (not hidden_level or len(heading[1]) <= hidden_level):
            hidden_level = len(heading[1]) if heading[2].casefold() in {"hint", "hints"} else 0
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and not line.strip(" \t\r\n" + fence[0]):
            fence = ""
        if not hidden_level:
            kept.append(line)
    return "".join(kept)


def fill_statement(template: str, pack: Pack) -> str:
    """Returns ``template`` with every placeholder replaced. Raises StatementError for one that is not known."""
    known = _values(pack)

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in known:
            raise StatementError(f"{{{{{name}}}}} is not known; known are {', '.join(sorted(known))}")
        return known[name]

    return _PLACEHOLDER.sub(value, template)


def _values(pack: Pack) -> dict[str, str]:
    values = {
        "signature": f"```cpp\n{pack.prototype()}\n```",
        "constraints": "\n".join(_constraint_lines(pack)),
        "benchmarks": "\n".join(_benchmark_line(case) for case in pack.benchmarks),
        "limits.wall_s": f"{pack.limits.wall_s:g}",
        "limits.memory_mib": f"{pack.limits.memory_mib:,}",
    }
    for axis in pack.axes:
        values |= {f"{axis.name}.min": f"{axis.min:,}", f"{axis.name}.max": f"{axis.max:,}"}
    for parameter in pack.parameters:
        if parameter.min is not None and parameter.max is not None:
            values |= {f"{parameter.name}.min": f"{parameter.min:,g}", f"{parameter.name}.max": f"{parameter.max:,g}"}
    return values


def _constraint_lines(pack: Pack) -> Iterator[str]:
    yield from map(_axis_line, pack.axes)
    for parameter in pack.parameters:
        if parameter.shown:
            values = {case.parameters[parameter.name] for case in (*pack.cases, *pack.benchmarks)}
            yield _parameter_line(parameter, values.pop() if len(values) == 1 else None)
    yield from (f"- `{constraint.text}`" for constraint in pack.constraints)


def _tex_name(name: str) -> str:
    return name if len(name) == 1 else rf"\texttt{{{name}}}".replace("_", r"\_")


def _tex_number(number: float) -> str:
    text = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return text.replace(",", "{,}")


def _axis_line(axis: Axis) -> str:
    divisor = f", a multiple of {axis.multiple_of}" if axis.multiple_of > 1 else ""
    described = f" ({axis.description})" if axis.description else ""
    return rf"- ${_tex_number(axis.min)} \le {_tex_name(axis.name)} \le {_tex_number(axis.max)}${divisor}{described}"


def _parameter_line(parameter: Parameter, always: Number | None) -> str:
    """``always`` is its value where it has one and the same in all cases."""
    if always is not None and parameter.min is None and parameter.max is None:
        return f"- `{parameter.name} = {always:g}`" + (f" ({parameter.description})" if parameter.description else "")
    low = "" if parameter.min is None else rf"{_tex_number(parameter.min)} \le "
    high = "" if parameter.max is None else rf" \le {_tex_number(parameter.max)}"
    described = f" ({parameter.description})" if parameter.description else ""
    return f"- ${low}{_tex_name(parameter.name)}{high}${described}"


def _benchmark_line(case: Case) -> str:
    sizes = ", ".join(f"{_tex_name(name)} = {_tex_number(size)}" for name, size in case.axes.items())
    return f"- on {' and '.join(KINDS[kind].phrase for kind in case.devices)}: ${sizes}$"
