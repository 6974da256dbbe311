"""Turns a valid ``challenge.toml`` into a pack, checking what one table says of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from judge.packs.argument import Argument, ToleranceRule
from judge.packs.distributions import DISTRIBUTIONS, Distribution, Sentinels
from judge.packs.errors import PackError
from judge.packs.expressions import Expression, ExpressionError, Number, parse_expression
from judge.packs.pack import Axis, Case, Link, Pack, PackBench, PackBuild, PackEmulator, PackLimits, Parameter
from judge.packs.reference import Reference
from judge.packs.schema import (
    ArgumentModel,
    BenchmarkModel,
    CaseModel,
    ChallengeModel,
    DistributionModel,
    ParameterModel,
)
from judge.packs.signature import parse_c_type
from judge.wire.elements import Element


def assemble(file: Path, model: ChallengeModel, reference: Reference, digest: str) -> Pack:
    """Returns the pack that ``model``, read from ``file``, describes. Raises PackError for the first contradiction."""
    return _Assembly(file, model, reference).pack(digest)


class _Assembly:
    def __init__(self, file: Path, model: ChallengeModel, reference: Reference) -> None:
        self._file = file
        self._model = model
        self._reference = reference
        self._variables = frozenset(model.axes) | frozenset(model.parameters)

    def pack(self, digest: str) -> Pack:
        model = self._model
        if overlap := set(model.axes) & set(model.parameters):
            raise self._error("parameters", f"{', '.join(sorted(overlap))} is also an axis; rename one of them")
        axes, parameters = tuple(self._axes()), tuple(self._parameters())
        arguments = self._arguments()
        self._require_unique([case.id for case in model.cases] + [case.id for case in model.benchmarks], "cases", "id")
        cases = tuple(self._case(case, case.group, f"cases.{case.id}", arguments) for case in model.cases)
        if not any(case.group == "sample" for case in cases):
            raise self._error("cases", 'has no case with group = "sample"; the Run button needs one')
        return Pack(
            slug=model.id,
            title=model.title,
            version=model.version,
            digest=digest,
            difficulty=model.difficulty,
            tags=model.tags,
            license=model.license,
            links=tuple(Link(link.title, link.url) for link in model.links),
            directory=self._file.parent,
            axes=axes,
            parameters=parameters,
            arguments=arguments,
            limits=PackLimits(model.limits.wall_s, model.limits.memory_mib),
            build=PackBuild(model.build.std, model.build.libraries, model.build.language),
            emulator=PackEmulator(reads_are_errors=model.emulator.out_of_bounds_reads == "error"),
            bench=self._bench(),
            # Samples first, whatever the order in the file.
            cases=tuple(sorted(cases, key=lambda case: case.group != "sample")),
            benchmarks=tuple(
                self._case(case, "benchmark", f"benchmarks.{case.id}", arguments) for case in model.benchmarks
            ),
            reference=self._reference,
        )

    def _axes(self) -> Iterator[Axis]:
        for name, axis in self._model.axes.items():
            if axis.min > axis.max:
                raise self._error(f"axes.{name}", f"min {axis.min} lies above max {axis.max}")
            yield Axis(name, axis.min, axis.max, axis.multiple_of, axis.description)

    def _parameters(self) -> Iterator[Parameter]:
        for name, parameter in self._model.parameters.items():
            value = self._parameter(name, parameter, parameter.default, f"parameters.{name}.default")
            yield Parameter(name, value, parameter.min, parameter.max, parameter.description)

    def _bench(self) -> PackBench:
        model = self._model.bench
        return PackBench(
            self._expression(model.bytes, "bench.bytes"),
            self._expression(model.flops, "bench.flops"),
            model.arithmetic,
            model.budget_s,
        )

    def _arguments(self) -> tuple[Argument, ...]:
        models = self._model.arguments
        self._require_unique((argument.name for argument in models), "arguments", "name")
        outputs = [argument.name for argument in models if argument.role in ("out", "inout")]
        if not outputs:
            raise self._error("arguments", 'no argument has the role "out" or "inout", so there is nothing to judge')
        if set(self._model.tolerance) != set(outputs):
            raise self._error("tolerance", f"needs exactly one table for each of: {', '.join(outputs)}")
        return tuple(self._argument(model, f"arguments.{model.name}") for model in models)

    def _argument(self, model: ArgumentModel, key: str) -> Argument:
        try:
            element, is_pointer, is_const = parse_c_type(model.type)
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
        if not is_pointer and element.facts.ctypes_name is None:
            raise self._error(f"{key}.type", f"'{model.type}' cannot be passed by value; pass a float")
        value = None
        if not is_pointer:
            value = self._expression(model.name if model.value is None else model.value, f"{key}.value")
        return Argument(
            name=model.name,
            c_type=model.type,
            role=model.role,
            element=element,
            shape=tuple(self._expression(extent, f"{key}.shape") for extent in model.shape),
            value=value,
            description=model.description,
            distribution=self._declared(model, element, f"{key}.distribution"),
            initial=model.initial,
            tolerance=self._tolerance(model, element) if model.role in ("out", "inout") else None,
        )

    def _declared(self, model: ArgumentModel, element: Element, key: str) -> Distribution | None:
        if model.distribution is not None:
            if model.role == "out":
                raise self._error(key, "an output has none; it is zero or poison on entry (initial)")
            return self._distribution(model.distribution, model.type, element, key)
        if model.role in ("in", "inout") and self._reference.make_inputs is None:
            raise self._error(key, "is missing; declare what fills it, or define make_inputs in reference.py")
        return None

    def _distribution(self, model: DistributionModel, c_type: str, element: Element, key: str) -> Distribution:
        kind = DISTRIBUTIONS[model.kind]
        if kind.floats_only and not element.facts.is_float:
            raise self._error(key, f"'{model.kind}' makes floating-point values; use 'integers' for {c_type}")
        numbers = model.model_dump(exclude={"kind", "sentinels"}, exclude_none=True)
        sentinels = Sentinels(model.sentinels.count, model.sentinels.magnitude) if model.sentinels else None
        return kind(**numbers, sentinels=sentinels)

    def _tolerance(self, output: ArgumentModel, element: Element) -> ToleranceRule:
        model, key = self._model.tolerance[output.name], f"tolerance.{output.name}"
        if model.kind != "exact" and not element.facts.is_float:
            raise self._error(f"{key}.kind", f"an output of type {output.type} is compared 'exact'")
        return ToleranceRule(model.kind, np.dtype(model.accumulate), self._expression(model.terms, f"{key}.terms"))

    def _case(
        self,
        model: CaseModel | BenchmarkModel,
        group: Literal["sample", "hidden", "benchmark"],
        key: str,
        arguments: tuple[Argument, ...],
    ) -> Case:
        if set(model.axes) != set(self._model.axes):
            raise self._error(f"{key}.axes", f"must give exactly: {', '.join(self._model.axes)}")
        for name, size in model.axes.items():
            axis = self._model.axes[name]
            if not axis.min <= size <= axis.max or size % axis.multiple_of:
                raise self._error(f"{key}.axes.{name}", f"{size} is not within what [axes.{name}] allows")
        parameters = {
            name: self._parameter(
                name, parameter, model.parameters.get(name, parameter.default), f"{key}.parameters.{name}"
            )
            for name, parameter in self._model.parameters.items()
        }
        if unknown := set(model.parameters) - set(parameters):
            raise self._error(f"{key}.parameters", f"{', '.join(sorted(unknown))}: not among [parameters]")
        declared = {argument.name: argument for argument in arguments if argument.distribution is not None}
        if unknown := set(model.distributions) - set(declared):
            raise self._error(f"{key}.distributions", f"{', '.join(sorted(unknown))}: no input with a distribution")
        distributions = {
            name: self._distribution(
                distribution, declared[name].c_type, declared[name].element, f"{key}.distributions.{name}"
            )
            for name, distribution in model.distributions.items()
        }
        return Case(
            id=model.id,
            group=group,
            axes=dict(model.axes),
            parameters=parameters,
            distributions=distributions,
            devices=tuple(model.devices),
            description=model.description,
            guessable=isinstance(model, CaseModel) and model.guessable,
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
        if unknown := expression.names - self._variables:
            raise self._error(key, f"{', '.join(sorted(unknown))}: neither an axis nor a parameter")
        return expression

    def _require_unique(self, names: Iterable[str], key: str, what: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise self._error(key, f"the {what} '{name}' is used twice")
            seen.add(name)

    def _error(self, key: str, reason: str) -> PackError:
        return PackError(self._file, key, reason)
