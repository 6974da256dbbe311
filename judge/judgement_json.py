"""The JSON form of a judgement: written and read in one version, which it names.

A part of a judgement that is stored by itself (a measurement, a fingerprint, a build report) names no version.

Pydantic is imported at the first reading, since it would double the time in which the command line starts.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar, cast

from judge.judgement import SCHEMA_VERSION, BuildReport, Judgement
from judge.measurements import WHEN_KNOWN, Fingerprint, Measurement, ObservedConditions
from judge.profile import Profile
from judge.recheck import Recheck

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


class UnreadableJudgement(ValueError):
    """The JSON is not a judgement, or has a version that this release does not know."""


def to_json(part: Any) -> Any:
    """Returns the JSON form of a judgement or of a part of one, in plain types.

    Verdicts and outcomes become their values, tuples lists, and numbers that are not finite strings: nan, inf, -inf.
    """
    if part is None or type(part) in (str, int, bool):
        return part
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        if part in (Fingerprint(), ObservedConditions()):
            return {}
        return {
            item.name: to_json(value)
            for item in _fields(type(part))
            if not _is_unknown(item, value := getattr(part, item.name))
        }
    if isinstance(part, Mapping):
        return {key: to_json(item) for key, item in part.items()}
    if isinstance(part, (list, tuple)):
        return [to_json(item) for item in part]
    if isinstance(part, StrEnum):
        return part.value
    if isinstance(part, float) and not math.isfinite(part):
        return "nan" if math.isnan(part) else "inf" if part > 0 else "-inf"
    return part


def read_judgement(data: Mapping[str, Any]) -> Judgement:
    """Returns the judgement that was stored or sent as ``data``. Raises UnreadableJudgement."""
    return _read(Judgement, _of_this_version(data))


def read_measurement(data: Mapping[str, Any]) -> Measurement:
    """Returns a measurement that was stored by itself, as audits are. Raises UnreadableJudgement."""
    return _read(Measurement, _readable_measurement(data))


def read_fingerprint(data: Mapping[str, Any]) -> Fingerprint:
    """Returns a fingerprint that was stored by itself, as leaderboard rows are. Raises UnreadableJudgement."""
    return _read(Fingerprint, _readable_fingerprint(data))


def read_build_report(data: Mapping[str, Any]) -> BuildReport:
    """Returns a build report that was stored by itself, as jobs and the build cache do. Raises UnreadableJudgement."""
    return _read(BuildReport, data)


def read_recheck(data: Mapping[str, Any]) -> Recheck:
    """Reads the findings of a check, which are stored by themselves. Raises UnreadableJudgement."""
    return _read(Recheck, data)


def read_profile(data: Mapping[str, Any]) -> Profile:
    """Reads a profile, which is stored by itself. Raises UnreadableJudgement."""
    return _read(Profile, data)


def _read(kind: type[T], data: Mapping[str, Any]) -> T:
    try:
        found: T = _adapter(cast(Hashable, kind)).validate_python(data)
    except ValueError as error:
        raise UnreadableJudgement(f"no {kind.__name__} can be read from the JSON: {error}") from None
    return found


@functools.cache
def _fields(kind: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _of_this_version(data: Mapping[str, Any]) -> dict[str, Any]:
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        raise UnreadableJudgement(f"the judgement is of version {version}, and this release reads {SCHEMA_VERSION}")
    measured = {name: data[name] for name in ("measurement", "unranked") if data.get(name) is not None}
    return {**data, **{name: _readable_measurement(measurement) for name, measurement in measured.items()}}


def _readable_measurement(data: Mapping[str, Any]) -> dict[str, Any]:
    return {**data, "fingerprint": _readable_fingerprint(data.get("fingerprint") or {})}


def _readable_fingerprint(data: Mapping[str, Any]) -> dict[str, Any]:
    """Puts entries unknown to this release under ``other``, so that they are shown all the same."""
    known = {item.name for item in dataclasses.fields(Fingerprint)}
    other = {name: value for name, value in data.items() if name not in known}
    return {name: value for name, value in data.items() if name in known} | (
        {"other": {**data.get("other", {}), **other}} if other else {}
    )


def _is_unknown(item: dataclasses.Field[Any], value: Any) -> bool:
    """Whether the JSON leaves this field out: see ``judge.judgement``."""
    if item.metadata != WHEN_KNOWN:
        return False
    return bool(value == (item.default_factory() if callable(item.default_factory) else item.default))
