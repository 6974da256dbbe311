"""Turns a valid ``challenge.toml`` into a pack, checking what one table says of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from judge.packs import sizes
from judge.packs.call_shapes import call_shapes
from judge.packs.data import distributions
from judge.packs.data.data_files import open_data_file
from judge.packs.data.distributions import DISTRIBUTIONS, Distribution
from judge.packs.data.storage import value_type
from judge.packs.errors import PackError
from judge.packs.form.argument import Argument, Role, ToleranceRule
from judge.packs.form.baseline_rows import read_baselines
from judge.packs.form.case_rows import Cases
from judge.packs.form.expressions import (
    Constraint,
    Expression,
    ExpressionError,
    Number,
    parse_constraint,
    parse_expression,
)
from judge.packs.form.schema import (
    ArrayModel,
    BenchmarkModel,
    CaseModel,
    ChallengeModel,
    DataModel,
    ParameterModel,
)
from judge.packs.form.signature import CType, parse_signature
from judge.packs.medals import Medals, read_medals
from judge.packs.pack import (
    Axis,
    Case,
    CaseGroup,
    Link,
    Pack,
    PackBench,
    PackBuild,
    PackEmulator,
    PackLimits,
    Parameter,
)
from judge.packs.reference import Reference
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
        self._files: dict[tuple[str, str], distributions.FromFile] = {}

    def pack(self, digest: str) -> Pack:
        model = self._model
        if overlap := set(model.axes) & set(model.parameters):
            raise self._error("parameters", f"{', '.join(sorted(overlap))} is also an axis; rename one of them")
        if model.rounds is not None and model.rounds not in {*model.axes, *model.parameters}:
            raise self._error("rounds", f"{model.rounds} is neither an axis nor a parameter")
        axes, arguments = tuple(self._axes()), self._arguments()
        constraints = tuple(self._constraint(text) for text in model.constraints)
        listed = Cases(self._file, model)
        cases = tuple(
            self._case(case, case.group, f"cases.{case.id}", arguments, constraints) for case in listed.functional()
        )
        if not any(case.group == "sample" for case in cases):
            raise self._error("sample_sizes", "is empty; the Run button needs a public case")
        return Pack(
            slug=self._file.parent.name,
            title=model.title,
            version=model.version,
            digest=digest,
            difficulty=model.difficulty,
            aliases=model.aliases,
            tags=model.tags,
            license=model.license,
            links=tuple(Link(link.title, link.url) for link in model.links),
            directory=self._file.parent,
            axes=axes,
            parameters=tuple(self._parameters(arguments, constraints)),
            arguments=arguments,
            constraints=constraints,
            limits=PackLimits(model.limits.wall_s, model.limits.memory_mib),
            build=PackBuild(model.build.std, model.build.libraries, model.build.languages, *model.build.languages[:1]),
            emulator=PackEmulator(reads_are_errors=model.emulator.out_of_bounds_reads == "error"),
            bench=self._bench(),
            baselines=read_baselines(self._file, self._model.baselines),
            # Samples first, whatever the order in the file.
            cases=tuple(sorted(cases, key=lambda case: case.group != "sample")),
            benchmarks=tuple(
                self._case(case, "benchmark", f"benchmarks.{case.id}", arguments, constraints)
                for case in listed.benchmarks()
            ),
            reference=self._reference,
            shapes_of=call_shapes,
            rounds=model.rounds,
            equivalent=dict(model.equivalent),
            waived={str(code): reason for code, reason in model.waived.items()},
            unreached=dict(model.unreached),
            default_medals=read_medals(self._file.parent.parent).get(self._file.parent.name, {}),
        )

    def _axes(self) -> Iterator[Axis]:
        for name, axis in self._model.axes.items():
            if axis.min > axis.max:
                raise self._error(f"axes.{name}", f"min {axis.min} lies above max {axis.max}")
            yield Axis(name, axis.min, axis.max, axis.multiple_of, axis.description, axis.fixed)

    def _parameters(self, arguments: tuple[Argument, ...], constraints: tuple[Constraint, ...]) -> Iterator[Parameter]:
        """Yields the parameters; those that neither a scalar, a shape nor a constraint uses are for data only."""
        used: set[str] = set().union(*(constraint.names for constraint in constraints))
        for argument in arguments:
            for expression in (*argument.shape, *([argument.value] if argument.value else [])):
                used |= expression.names
        for name, parameter in self._model.parameters.items():
            value = self._parameter(name, parameter, parameter.default, f"parameters.{name}.default")
            yield Parameter(name, value, parameter.min, parameter.max, parameter.description, shown=name in used)

    def _bench(self) -> PackBench:
        model = self._model.bench
        medals = model.medals
        return PackBench(
            self._expression(model.bytes, "bench.bytes"),
            self._expression(model.flops, "bench.flops"),
            model.arithmetic,
            model.budget_s,
            None if medals is None else Medals(medals.bronze, medals.silver, medals.gold),
        )

    def _arguments(self) -> tuple[Argument, ...]:
        model = self._model
        try:
            listed = parse_signature(model.signature)
        except ValueError as error:
            raise self._error("signature", str(error)) from None
        names = [name for _, name, _ in listed]
        pointers = [name for _, name, parsed in listed if parsed.is_pointer]
        self._require_tables("arrays", model.arrays, pointers, "each pointer of the signature")
        if unknown := set(model.scalars) - (set(names) - set(pointers)):
            raise self._error("scalars", f"{', '.join(sorted(unknown))}: not a scalar of the signature")
        arguments = tuple(
            self._array(name, c_type, parsed) if parsed.is_pointer else self._scalar(name, c_type, parsed)
            for c_type, name, parsed in listed
        )
        outputs = [argument.name for argument in arguments if argument.is_output]
        if not outputs:
            raise self._error("arrays", "no pointer is an output, so there is nothing to judge")
        if unknown := set(model.tolerance) - set(outputs):
            raise self._error("tolerance", f"{', '.join(sorted(unknown))}: not an output ({', '.join(outputs)})")
        if (missing := set(outputs) - set(model.tolerance)) and not self._reference.defines("check"):
            reason = f"is missing for {', '.join(sorted(missing))}; add it, or define check in reference.py"
            raise self._error("tolerance", reason)
        return arguments

    def _scalar(self, name: str, c_type: str, parsed: CType) -> Argument:
        model = self._model
        if name in model.scalars:
            value = self._expression(model.scalars[name], f"scalars.{name}")
        elif name in self._variables:
            value = parse_expression(name)
        else:
            reason = (
                f"the scalar '{name}' is neither an axis nor a parameter; add it to [axes], [parameters] or [scalars]"
            )
            raise self._error("signature", reason)
        declared = model.axes.get(name) or model.parameters.get(name)
        description = declared.description if declared else ""
        return Argument(name, c_type, "scalar", parsed.element, value=value, description=description)

    def _array(self, name: str, c_type: str, parsed: CType) -> Argument:
        model, key = self._model.arrays[name], f"arrays.{name}"
        role: Role = model.role or ("in" if parsed.is_const else "out")
        if parsed.is_const and role != "in":
            raise self._error(f"{key}.role", f"'{c_type}' is const, so its role is \"in\"")
        # The elements of a vector are one more axis.
        lanes = (parsed.lanes,) if parsed.lanes > 1 else ()
        return Argument(
            name=name,
            c_type=c_type,
            role=role,
            element=parsed.element,
            shape=tuple(self._expression(extent, f"{key}.shape") for extent in (*model.shape, *lanes)),
            description=model.description,
            distribution=self._declared(model, role, c_type, parsed.element, f"{key}.data"),
            initial=model.initial,
            tolerance=None if role == "in" else self._tolerance(name, c_type, parsed.element),
        )

    def _declared(self, model: ArrayModel, role: Role, c_type: str, element: Element, key: str) -> Distribution | None:
        if model.data is not None:
            if role == "out":
                raise self._error(key, 'an output has none; for one that is read too, add role = "inout"')
            return self._distribution(model.data, c_type, element, key)
        if role in ("in", "inout") and not self._reference.defines("make_inputs"):
            raise self._error(key, "is missing; declare what fills it, or define make_inputs in reference.py")
        return None

    def _distribution(self, model: DataModel, c_type: str, element: Element, key: str) -> Distribution:
        made = self._made(model, key)
        if made.floats_only and not element.facts.is_float:
            of = model.of.kind if model.of else model.kind
            raise self._error(key, f"'{of}' makes floating-point values; use 'integers' for {c_type}")
        if isinstance(made, distributions.Permutation) and element.facts.is_float:
            raise self._error(key, f"a permutation has whole numbers; {c_type} is floating-point")
        if isinstance(made, distributions.FromFile):
            if np.dtype(made.dtype) != value_type(element):
                raise self._error(key, f"{made.path.name} holds {made.dtype}, and {c_type} takes {value_type(element)}")
        elif element is Element.BOOL and not _is_binary(made):
            raise self._error(key, "a bool takes integers from 0 to 1, a constant of the two, or one-hot")
        return made

    def _made(self, model: DataModel, key: str) -> Distribution:
        base = model.of and self._made(model.of, key)
        match model.kind:
            case "zeros":
                return distributions.Constant(0.0)
            case "sorted":
                assert isinstance(base, (distributions.Uniform, distributions.Integers))
                return distributions.Sorted(base)
            case "sparse":
                assert isinstance(base, distributions.Drawn)
                assert model.share is not None
                return distributions.Sparse(model.share, base)
            case "choice":
                return distributions.Choice(model.values or ())
            case "one-hot":
                return distributions.OneHot()
            case "permutation":
                return distributions.Permutation()
            case "offsets":
                return distributions.Offsets(self._expression(model.total, f"{key}.total"))
            case "file":
                return self._from_file(model.file or "", model.sha256 or "", key)
        numbers = model.model_dump(include={"low", "high", "mean", "sd", "value"}, exclude_none=True)
        sentinels = (
            distributions.Sentinels(model.sentinels.count, model.sentinels.magnitude) if model.sentinels else None
        )
        return DISTRIBUTIONS[model.kind](**numbers, sentinels=sentinels)

    def _from_file(self, name: str, sha256: str, key: str) -> distributions.FromFile:
        # Several cases may take their parts of one file.
        if (name, sha256) not in self._files:
            try:
                self._files[name, sha256] = open_data_file(self._file.parent / name, sha256)
            except ValueError as error:
                raise self._error(key, str(error)) from None
        return self._files[name, sha256]

    def _tolerance(self, output: str, c_type: str, element: Element) -> ToleranceRule | None:
        model, key = self._model.tolerance.get(output), f"tolerance.{output}"
        if model is None:
            return None
        if model.kind not in ("exact", "close") and not element.facts.is_float:
            raise self._error(f"{key}.kind", f"an output of type {c_type} is compared 'exact' or 'close'")
        terms = self._expression(1 if model.terms is None else model.terms, f"{key}.terms")
        return ToleranceRule(model.kind, np.dtype(model.accumulate), terms, model.absolute, model.relative)

    def _case(
        self,
        model: CaseModel | BenchmarkModel,
        group: CaseGroup,
        key: str,
        arguments: tuple[Argument, ...],
        constraints: tuple[Constraint, ...],
    ) -> Case:
        assert model.id is not None, "made from the sizes where the file gives none"
        self._require_tables(f"{key}.axes", model.axes, self._model.axes, "each axis")
        for name, size in model.axes.items():
            axis = self._model.axes[name]
            if not axis.min <= size <= axis.max or size % axis.multiple_of:
                raise self._error(f"{key}.axes.{name}", f"{size} is not within what [axes] allows for {name}")
        parameters = {
            name: self._parameter(
                name, parameter, model.parameters.get(name, parameter.default), f"{key}.parameters.{name}"
            )
            for name, parameter in self._model.parameters.items()
        }
        if unknown := set(model.parameters) - set(parameters):
            raise self._error(f"{key}.parameters", f"{', '.join(sorted(unknown))}: not among [parameters]")
        inputs = {argument.name: argument for argument in arguments if argument.is_input}
        if unknown := set(model.data) - set(inputs):
            raise self._error(f"{key}.data", f"{', '.join(sorted(unknown))}: not an input")
        case = Case(
            id=model.id,
            group=group,
            axes={name: model.axes[name] for name in self._model.axes},
            parameters=parameters,
            distributions={
                name: self._distribution(data, inputs[name].c_type, inputs[name].element, f"{key}.data.{name}")
                for name, data in model.data.items()
            },
            devices=tuple(model.devices),
            description=model.description,
            guessable=isinstance(model, CaseModel) and model.guessable,
        )
        self._require_constraints(case, constraints, key)
        self._require_files(case, inputs, key)
        return case

    def _require_files(self, case: Case, inputs: Mapping[str, Argument], key: str) -> None:
        for name, argument in inputs.items():
            data = case.distribution(argument)
            if not isinstance(data, distributions.FromFile):
                continue
            try:
                shape = sizes.shape(case, argument)
            except ExpressionError as error:
                raise self._error(key, str(error)) from None
            if not data.holds(shape):
                raise self._error(key, f"{data.path.name} has the shape {data.shape}, and {name} needs {shape}")

    def _require_constraints(self, case: Case, constraints: tuple[Constraint, ...], key: str) -> None:
        for constraint in constraints:
            try:
                holds = constraint.holds(case.variables)
            except ExpressionError as error:
                raise self._error(key, str(error)) from None
            if not holds:
                raise self._error(key, f"does not keep to the constraint {constraint.text}")

    def _parameter(self, name: str, model: ParameterModel, value: float, key: str) -> Number:
        if (model.min is not None and value < model.min) or (model.max is not None and value > model.max):
            raise self._error(key, f"{value:g} is not within what [parameters] allows for {name}")
        if not model.integer:
            return value
        if value != int(value):
            raise self._error(key, f"{value:g} must be whole")
        return int(value)

    def _constraint(self, text: str) -> Constraint:
        try:
            constraint = parse_constraint(text)
        except ExpressionError as error:
            raise self._error("constraints", str(error)) from None
        self._require_known(constraint.names, "constraints")
        return constraint

    def _expression(self, text: Any, key: str) -> Expression:
        try:
            expression = parse_expression(text)
        except ExpressionError as error:
            raise self._error(key, str(error)) from None
        self._require_known(expression.names, key)
        return expression

    def _require_known(self, names: frozenset[str], key: str) -> None:
        if unknown := names - self._variables:
            raise self._error(key, f"{', '.join(sorted(unknown))}: neither an axis nor a parameter")

    def _require_tables(self, key: str, given: Any, wanted: Any, what: str) -> None:
        if missing := [name for name in wanted if name not in given]:
            raise self._error(key, f"lacks {', '.join(missing)}; it must name {what}")
        if unknown := [name for name in given if name not in wanted]:
            raise self._error(key, f"{', '.join(unknown)} is unknown; it may name only {what}: {', '.join(wanted)}")

    def _error(self, key: str, reason: str) -> PackError:
        return PackError(self._file, key, reason)


def _is_binary(distribution: Distribution) -> bool:
    match distribution:
        case (
            distributions.Integers(low, high)
            | distributions.Sorted(distributions.Integers(low, high))
            | distributions.Sparse(_, distributions.Integers(low, high))
        ):
            return low >= 0 and high <= 1
        case distributions.Constant(value):
            return value in (0, 1)
    return isinstance(distribution, distributions.OneHot)
