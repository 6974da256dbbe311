"""A challenge pack as everyone uses it: frozen data, and methods that make inputs, expected outputs and texts from
it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.check.compare import compare
from judge.check.mismatch import at_rows, joined
from judge.check.tolerance import Expected, Tolerance, ToleranceKind
from judge.judgement import DeviceKind, Mismatch
from judge.packs import signature
from judge.packs.distributions import Distribution, philox, recipe
from judge.packs.drawn import DrawnArray
from judge.packs.expressions import Expression, Number
from judge.packs.partial import whole
from judge.packs.reference import Reference
from judge.packs.signature import Argument
from judge.packs.statement import fill_statement
from judge.recipe import Recipe

Array = npt.NDArray[np.generic]
Inputs = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """The sizes that a kernel has to handle."""

    name: str
    min: int
    max: int
    multiple_of: int
    description: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that is no size."""

    name: str
    default: Number
    min: Number | None
    max: Number | None
    description: str


@dataclass(frozen=True, slots=True)
class PackLimits:
    """``wall_s`` bounds one call of ``solve``; ``memory_mib`` what it may allocate on the device beyond its
    arguments."""

    wall_s: float
    memory_mib: int


@dataclass(frozen=True, slots=True)
class PackEmulator:
    """``reads_are_errors``: a read outside of the buffers, which only the emulator sees, is an RE and no warning."""

    reads_are_errors: bool


@dataclass(frozen=True, slots=True)
class PackBuild:
    """The C++ standard and the libraries that submissions are built with."""

    std: str
    libraries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Somewhere to read on."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Case:
    """One set of sizes and contents. ``distributions`` are those that differ from the arguments' own;
    ``guessable`` means that a copy or a constant is the right answer."""

    id: str
    group: Literal["sample", "hidden", "benchmark"]
    axes: dict[str, int]
    parameters: dict[str, Number]
    distributions: dict[str, Distribution]
    devices: tuple[DeviceKind, ...]
    description: str
    guessable: bool = False

    @property
    def variables(self) -> dict[str, Number]:
        """Axes and parameters, as expressions see them."""
        return {**self.axes, **self.parameters}


class OutputSpec(NamedTuple):
    """What the runner has to know of an argument that is written. ``initial`` is what it holds on entry; ``input``: its
    input."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    initial: Literal["zero", "poison", "input"]


@dataclass(frozen=True, slots=True)
class OutputRule:
    """How one output is judged: the kind of bound, and the number of terms over the axes."""

    kind: ToleranceKind
    accumulate: np.dtype[np.generic]
    terms: Expression


@dataclass(frozen=True, slots=True)
class Pack:
    """One challenge. ``digest`` is over the files that decide a judgement (``challenge.toml`` and ``reference.py``)."""

    slug: str
    title: str
    version: str
    digest: str
    difficulty: str
    tags: tuple[str, ...]
    license: str
    track: str | None
    links: tuple[Link, ...]
    directory: Path
    axes: tuple[Axis, ...]
    parameters: tuple[Parameter, ...]
    arguments: tuple[Argument, ...]
    limits: PackLimits
    build: PackBuild
    emulator: PackEmulator
    cases: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    #: The type whose measured peak the roofline is drawn with (judge.devices.calibration.RATES).
    arithmetic: str
    #: What timing the benchmarks may take on a GPU, all told, once the calls that must be made have been.
    budget_s: float
    _distributions: Mapping[str, Distribution] = field(repr=False)
    _initial: Mapping[str, Literal["zero", "poison"]] = field(repr=False)
    _rules: Mapping[str, OutputRule] = field(repr=False)
    _bytes: Expression = field(repr=False)
    _flops: Expression = field(repr=False)
    _reference: Reference = field(repr=False)

    @property
    def major(self) -> int:
        """The version that leaderboards are kept by."""
        return int(self.version.split(".")[0])

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The arguments that are judged: out and inout."""
        return tuple(argument for argument in self.arguments if argument.role in ("out", "inout"))

    @property
    def signature_text(self) -> str:
        return signature.signature_text(self.arguments)

    def prototype(self) -> str:
        return signature.prototype(self.arguments)

    def header(self) -> str:
        """The text of ``solve.h``."""
        return signature.header(self.arguments)

    def starter(self) -> str:
        """The text of ``starter.cu``."""
        return signature.starter(self.title, self.arguments)

    def statement(self) -> str:
        """The statement in Markdown, sizes and limits filled in."""
        return fill_statement((self.directory / "statement.md").read_text(encoding="utf-8"), self)

    def cases_for(self, kind: DeviceKind) -> tuple[Case, ...]:
        """The functional cases for a kind of device, samples first, in pack order."""
        return tuple(case for case in self.cases if kind in case.devices)

    def benchmarks_for(self, kind: DeviceKind) -> tuple[Case, ...]:
        """The cases timed on a kind of device."""
        return tuple(case for case in self.benchmarks if kind in case.devices)

    def shape(self, case: Case, argument: Argument) -> tuple[int, ...]:
        """An argument's extents in a case; empty for a scalar."""
        return tuple(extent.evaluate_int(case.variables) for extent in argument.shape)

    def scalars(self, case: Case) -> dict[str, np.generic]:
        """The arguments that go by value."""
        return {
            argument.name: argument.dtype.type(argument.value.evaluate(case.variables))
            for argument in self.arguments
            if argument.value is not None
        }

    def inputs(
        self, case: Case, seed: int, call: int = 0, *, like: int | None = None, threads: int | None = None
    ) -> Inputs:
        """Every in, inout and scalar argument by name, in order of the signature: arrays (C order) and NumPy scalars.

        The same seed and call give the same bits; another seed, or another ``call`` (a timed call, say), gives other
        contents. ``like`` makes a near copy of an earlier call's: what ``make_inputs`` makes is the same (if anything
        else differs), what is declared differs in a few elements. ``threads``: on how many what is declared is made, as
        many as there are processors where nothing is said.
        """
        drawn = self.drawn_inputs(case, seed, call, like=like, threads=threads)
        return whole(drawn)

    def drawn_inputs(
        self, case: Case, seed: int, call: int = 0, *, like: int | None = None, threads: int | None = None
    ) -> Inputs:
        """The same as :meth:`inputs`, but what is declared is made only as it is looked at: a
        :class:`~judge.packs.drawn.DrawnArray` for each such argument."""
        values: Inputs = self.scalars(case) | self.host_inputs(case, seed, call, like=like)
        recipes = self.recipes(case, seed, call, like=like)
        for argument in self.arguments:
            if (made := recipes.get(argument.name)) is not None:
                values[argument.name] = DrawnArray(made, self.shape(case, argument), threads)
        return {argument.name: values[argument.name] for argument in self.arguments if argument.role != "out"}

    def host_inputs(self, case: Case, seed: int, call: int = 0, *, like: int | None = None) -> dict[str, Array]:
        """Those of ``inputs`` that only the pack's ``make_inputs`` can make: :meth:`recipes` has None for them."""
        if self._reference.make_inputs is None:
            return {}
        of_call = like if like is not None and self._varies(case) else call
        generator = np.random.Generator(philox(seed, case.id, "make_inputs", of_call))
        made = self._reference.make_inputs(generator, **case.axes, **case.parameters)
        return {
            argument.name: np.ascontiguousarray(made[argument.name], argument.dtype).reshape(self.shape(case, argument))
            for argument in self.arguments
            if argument.role in ("in", "inout") and argument.name in made
        }

    def recipes(self, case: Case, seed: int, call: int = 0, *, like: int | None = None) -> dict[str, Recipe | None]:
        """How a device makes each in and inout argument of :meth:`inputs`; None for those of :meth:`host_inputs`."""
        recipes: dict[str, Recipe | None] = {}
        for argument in self.arguments:
            if argument.role in ("in", "inout"):
                declared = self._distribution(case, argument.name)
                recipes[argument.name] = None if declared is None else recipe(
                    declared, argument.dtype, math.prod(self.shape(case, argument)), seed, case.id, argument.name, call,
                    like,
                )  # fmt: skip
        return recipes

    def expected(self, case: Case, inputs: Inputs) -> dict[str, Expected]:
        """What each out and inout argument should be, with the bound of each element; ``inputs`` as they were before
        the call."""
        values = self._by_output(self._reference.reference(**inputs))
        magnitudes = self._by_output(self._reference.magnitude(**inputs)) if self._reference.magnitude else {}
        return {
            output.name: self._expected(
                case, output, values[output.name], magnitudes.get(output.name), self.shape(case, output)
            )
            for output in self.outputs
        }

    def check(self, case: Case, inputs: Inputs, outputs: Mapping[str, Array]) -> Mismatch | None:
        """The first output that is wrong anywhere; every element is looked at. ``outputs`` need not be contiguous."""
        expected = self.expected(case, inputs)
        for name, want in expected.items():
            mismatch = compare(name, want, outputs[name].reshape(want.values.shape))
            if mismatch is not None:
                return mismatch
        return None

    def spot_check(self, case: Case, inputs: Inputs, outputs: Mapping[str, Any], seed: int) -> Mismatch | None:
        """A cheaper check for timed calls: parts of the outputs chosen by ``seed``, which must be drawn after the
        outputs were made. ``inputs`` are those of :meth:`inputs`, or of :meth:`drawn_inputs`, which saves making what
        is not looked at; ``outputs`` arrays, or what stands for them likewise.

        Where the pack has no ``spot_check`` this is :meth:`check`. The parts that are looked at are held against
        exactly the same bounds; a wrong row that is not looked at goes unseen, so packs look at enough of them to make
        skipped work show (64 rows show a skipped tenth with probability 99.9 % in every call) and choose rows by a
        cheap check of the whole (Freivalds) where there is one.
        """
        if self._reference.spot_check is None:
            return self.check(case, whole(inputs), whole(outputs))
        shapes = {output.name: self.shape(case, output) for output in self.outputs}
        shaped = {
            name: outputs[name] if outputs[name].shape == shape else outputs[name].reshape(shape)
            for name, shape in shapes.items()
        }
        generator = np.random.Generator(philox(seed, case.id, "spot_check", 0))
        parts = self._reference.spot_check(generator, inputs, shaped)
        mismatches: dict[str, list[Mismatch]] = {name: [] for name in shaped}
        looked_at = dict.fromkeys(shaped, 0)
        for part in [parts] if isinstance(parts, dict) else parts:
            for output in self.outputs:
                rows, values, magnitude = part[output.name]
                expected = self._expected(case, output, values, magnitude, np.shape(values))
                looked_at[output.name] += expected.values.size
                mismatch = compare(output.name, expected, shaped[output.name][rows])
                if mismatch is not None:
                    mismatches[output.name].append(at_rows(mismatch, rows))
        return next((joined(found, looked_at[name]) for name, found in mismatches.items() if found), None)

    def output_spec(self, case: Case) -> dict[str, OutputSpec]:
        """Shape, type and contents on entry of every out and inout argument."""
        return {
            output.name: OutputSpec(
                self.shape(case, output),
                output.dtype,
                "input" if output.role == "inout" else self._initial[output.name],
            )
            for output in self.outputs
        }

    def case_bytes(self, case: Case) -> float:
        """The bytes that a call has to move between the chip and its memory at the least."""
        return float(self._bytes.evaluate(case.variables))

    def case_flops(self, case: Case) -> float | None:
        """The operations of a call, None where the pack counts none."""
        return float(self._flops.evaluate(case.variables)) or None

    def _distribution(self, case: Case, name: str) -> Distribution | None:
        return case.distributions.get(name) or self._distributions.get(name)

    def _varies(self, case: Case) -> bool:
        """Whether any declared input differs from call to call."""
        declared = (self._distribution(case, argument.name) for argument in self.arguments)
        return any(one is not None and (one.kind != "constant" or one.sentinels) for one in declared)

    def _by_output(self, result: Any) -> dict[str, Any]:
        return result if isinstance(result, dict) else {self.outputs[0].name: result}

    def _expected(self, case: Case, output: Argument, values: Any, magnitude: Any, shape: tuple[int, ...]) -> Expected:
        rule = self._rules[output.name]
        if rule.kind == "exact":
            return Expected(np.asarray(values).reshape(shape), None)
        tolerance = Tolerance(rule.kind, rule.accumulate, float(rule.terms.evaluate(case.variables)))
        wanted = np.asarray(values, np.float64).reshape(shape)
        scale = None if magnitude is None else np.asarray(magnitude, np.float64).reshape(shape)
        return Expected(wanted, tolerance.bound(wanted, scale, output.dtype))
