"""Reading a pack from its directory. Everything that can be wrong is found here and said as a PackError."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from judge.packs.distributions import Distribution, Sentinels
from judge.packs.errors import PackError
from judge.packs.expressions import Expression, ExpressionError, Number, parse_expression
from judge.packs.pack import Axis, Case, Link, OutputRule, Pack, PackBuild, PackEmulator, PackLimits, Parameter
from judge.packs.reference import load_reference
from judge.packs.schema import (
    ArgumentModel,
    BenchmarkModel,
    CaseModel,
    ChallengeModel,
    DistributionModel,
    ParameterModel,
)
from judge.packs.signature import Argument, parse_c_type

DECIDING_FILES = ("challenge.toml", "reference.py")


def load_pack(directory: Path) -> Pack:
    """The pack in ``directory``; raises PackError(file, key, reason) for the first thing wrong with it."""
    directory = directory.resolve()
    file = directory / "challenge.toml"
    model = _read(file)
    if model.id != directory.name:
        reason = f"is '{model.id}', but the directory is called '{directory.name}'; give both one name"
        raise PackError(file, "id", reason)
    if not (directory / "statement.md").is_file():
        raise PackError(directory / "statement.md", "", "is missing; write the statement in Markdown")
    return _Assembly(directory, file, model).pack()


def _read(file: Path) -> ChallengeModel:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PackError(file, "", "is missing; a pack is a directory with this file in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(file, "", f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise PackError(file, "", f"is not valid TOML: {error}") from None
    try:
        return ChallengeModel.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise PackError(file, key, first["msg"].removeprefix("Value error, ") + more) from None


def _digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for name in DECIDING_FILES:
        content = (directory / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _distribution(model: DistributionModel) -> Distribution:
    given = model.model_dump(exclude={"sentinels"}, exclude_none=True)
    sentinels = Sentinels(model.sentinels.count, model.sentinels.magnitude) if model.sentinels else None
    return Distribution(**given, sentinels=sentinels)


class _Assembly:
    """Turns a valid file into a pack, checking what one table says of another."""

    def __init__(self, directory: Path, file: Path, model: ChallengeModel) -> None:
        self.directory = directory
        self.file = file
        self.model = model
        self.variables = frozenset(model.axes) | frozenset(model.parameters)

    def pack(self) -> Pack:
        model = self.model
        if overlap := set(model.axes) & set(model.parameters):
            raise self._error("parameters", f"{', '.join(sorted(overlap))} is also an axis; rename one of them")
        axes, parameters = tuple(self._axes()), tuple(self._parameters())
        reference_file = self.directory / "reference.py"
        reference = load_reference(reference_file, f"gpujudge_pack_{model.id.replace('-', '_')}")
        arguments = self._arguments()
        distributions = self._distributions(arguments, has_make_inputs=reference.make_inputs is not None)
        rules = self._rules(arguments)
        self._unique([case.id for case in model.cases] + [case.id for case in model.benchmarks], "cases", "id")
        cases = tuple(self._case(case, case.group, f"cases.{case.id}", distributions) for case in model.cases)
        if not any(case.group == "sample" for case in cases):
            raise self._error("cases", 'has no case with group = "sample"; the Run button needs one')
        return Pack(
            slug=model.id,
            title=model.title,
            version=model.version,
            digest=_digest(self.directory),
            difficulty=model.difficulty,
            tags=model.tags,
            license=model.license,
            track=model.track,
            links=tuple(Link(link.title, link.url) for link in model.links),
            directory=self.directory,
            axes=axes,
            parameters=parameters,
            arguments=arguments,
            limits=PackLimits(model.limits.wall_s, model.limits.memory_mib),
            build=PackBuild(model.build.std, model.build.libraries),
            emulator=PackEmulator(reads_are_errors=model.emulator.out_of_bounds_reads == "error"),
            # Samples first, whatever the order in the file.
            cases=tuple(sorted(cases, key=lambda case: case.group != "sample")),
            benchmarks=tuple(
                self._case(case, "benchmark", f"benchmarks.{case.id}", distributions) for case in model.benchmarks
            ),
            arithmetic=model.bench.arithmetic,
            budget_s=model.bench.budget_s,
            _distributions=distributions,
            _initial={argument.name: argument.initial for argument in model.arguments},
            _rules=rules,
            _bytes=self._expression(model.bench.bytes, "bench.bytes"),
            _flops=self._expression(model.bench.flops, "bench.flops"),
            _reference=reference,
        )

    def _axes(self) -> Iterable[Axis]:
        for name, axis in self.model.axes.items():
            if axis.min > axis.max:
                raise self._error(f"axes.{name}", f"min {axis.min} lies above max {axis.max}")
            yield Axis(name, axis.min, axis.max, axis.multiple_of, axis.description)

    def _parameters(self) -> Iterable[Parameter]:
        for name, parameter in self.model.parameters.items():
            value = self._parameter(name, parameter, parameter.default, f"parameters.{name}.default")
            yield Parameter(name, value, parameter.min, parameter.max, parameter.description)

    def _arguments(self) -> tuple[Argument, ...]:
        self._unique((argument.name for argument in self.model.arguments), "arguments", "name")
        arguments = tuple(self._argument(argument, f"arguments.{argument.name}") for argument in self.model.arguments)
        if not any(argument.role in ("out", "inout") for argument in arguments):
            raise self._error("arguments", 'no argument has the role "out" or "inout", so there is nothing to judge')
        return arguments

    def _argument(self, model: ArgumentModel, key: str) -> Argument:
        try:
            dtype, is_pointer, is_const = parse_c_type(model.type)
        except ValueError as error:
            raise self._error(f"{key}.type", str(error)) from None
        if is_pointer == (model.role == "scalar"):
            raise self._error(f"{key}.type", f"'{model.type}' does not go with the role '{model.role}'")
        if is_const != (model.role == "in"):
            raise self._error(f"{key}.type", "pointers that are only read are const, all others are not")
        if is_pointer and not model.shape:
            raise self._error(f"{key}.shape", 'is missing; give the extents, as in shape = ["M", "N"]')
        if is_pointer and model.value is not None:
            raise self._error(f"{key}.value", "belongs to scalars only")
        if not is_pointer and (model.shape or model.distribution):
            raise self._error(key, "a scalar has neither shape nor distribution; give its value")
        shape = tuple(self._expression(extent, f"{key}.shape") for extent in model.shape)
        value = None
        if not is_pointer:
            value = self._expression(model.name if model.value is None else model.value, f"{key}.value")
        return Argument(model.name, model.type, model.role, dtype, shape, value, model.description)

    def _distributions(self, arguments: tuple[Argument, ...], *, has_make_inputs: bool) -> dict[str, Distribution]:
        distributions = {}
        for model, argument in zip(self.model.arguments, arguments, strict=True):
            key = f"arguments.{argument.name}.distribution"
            if model.distribution is not None:
                if argument.role == "out":
                    raise self._error(key, "an output has none; it is zero or poison on entry (initial)")
                distributions[argument.name] = self._fitting(model.distribution, argument, key)
            elif argument.role in ("in", "inout") and not has_make_inputs:
                raise self._error(key, "is missing; declare what fills it, or define make_inputs in reference.py")
        return distributions

    def _fitting(self, model: DistributionModel, argument: Argument, key: str) -> Distribution:
        if argument.dtype.kind in "iu" and model.kind in ("uniform", "normal"):
            raise self._error(key, f"'{model.kind}' makes floating-point values; use 'integers' for {argument.c_type}")
        return _distribution(model)

    def _rules(self, arguments: tuple[Argument, ...]) -> dict[str, OutputRule]:
        outputs = {argument.name: argument for argument in arguments if argument.role in ("out", "inout")}
        if set(self.model.tolerance) != set(outputs):
            raise self._error("tolerance", f"needs exactly one table for each of: {', '.join(outputs)}")
        rules = {}
        for name, model in self.model.tolerance.items():
            if model.kind != "exact" and outputs[name].dtype.kind != "f":
                reason = f"an output of type {outputs[name].c_type} is compared 'exact'"
                raise self._error(f"tolerance.{name}.kind", reason)
            terms = self._expression(model.terms, f"tolerance.{name}.terms")
            rules[name] = OutputRule(model.kind, np.dtype(model.accumulate), terms)
        return rules

    def _case(
        self,
        model: CaseModel | BenchmarkModel,
        group: Literal["sample", "hidden", "benchmark"],
        key: str,
        distributions: Mapping[str, Distribution],
    ) -> Case:
        if set(model.axes) != set(self.model.axes):
            raise self._error(f"{key}.axes", f"must give exactly: {', '.join(self.model.axes)}")
        for name, size in model.axes.items():
            axis = self.model.axes[name]
            if not axis.min <= size <= axis.max or size % axis.multiple_of:
                raise self._error(f"{key}.axes.{name}", f"{size} is not within what [axes.{name}] allows")
        parameters = {
            name: self._parameter(
                name, parameter, model.parameters.get(name, parameter.default), f"{key}.parameters.{name}"
            )
            for name, parameter in self.model.parameters.items()
        }
        if unknown := set(model.parameters) - set(parameters):
            raise self._error(f"{key}.parameters", f"{', '.join(sorted(unknown))}: not among [parameters]")
        if unknown := set(model.distributions) - set(distributions):
            raise self._error(f"{key}.distributions", f"{', '.join(sorted(unknown))}: no input with a distribution")
        by_name = {argument.name: argument for argument in self._arguments()}
        own = {
            name: self._fitting(distribution, by_name[name], f"{key}.distributions.{name}")
            for name, distribution in model.distributions.items()
        }
        guessable = isinstance(model, CaseModel) and model.guessable
        return Case(
            model.id, group, dict(model.axes), parameters, own, tuple(model.devices), model.description, guessable
        )

    def _parameter(self, name: str, model: ParameterModel, value: float, key: str) -> Number:
        if (model.min is not None and value < model.min) or (model.max is not None and value > model.max):
            raise self._error(key, f"{value:g} is not within what [parameters.{name}] allows")
        if not model.integer:
            return value
        if value != int(value):
            raise self._error(key, f"{value:g} must be whole")
        return int(value)

    def _expression(self, text: Any, key: str) -> Expression:
        try:
            expression = parse_expression(text)
        except ExpressionError as error:
            raise self._error(key, str(error)) from None
        if unknown := expression.names - self.variables:
            raise self._error(key, f"{', '.join(sorted(unknown))}: neither an axis nor a parameter")
        return expression

    def _unique(self, names: Iterable[str], key: str, what: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise self._error(key, f"the {what} '{name}' is used twice")
            seen.add(name)

    def _error(self, key: str, reason: str) -> PackError:
        return PackError(self.file, key, reason)
