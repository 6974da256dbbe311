"""A challenge pack as everyone uses it: frozen data.

What is done with it lies beside it: ``inputs`` makes a call's inputs, ``judging`` decides whether its outputs are
right, ``sizes`` evaluates what the pack states over its axes, ``statement`` fills the text in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judge.judgement import DeviceKind
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE
from judge.packs.baselines import Baselines
from judge.packs.data.distributions import Distribution, FromFile
from judge.packs.form import signature
from judge.packs.form.argument import Argument
from judge.packs.form.expressions import Constraint, Expression, Number
from judge.packs.medals import Medals
from judge.packs.reference import Reference
from records import dataclass

if TYPE_CHECKING:
    from judge.wire.call_shapes import CallShape

#: ``custom`` is a case that a user made (judge.packs.custom.case).
CaseGroup = Literal["sample", "hidden", "benchmark", "custom"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A size, and the range of it that a kernel has to handle. In a benchmark, a ``fixed`` one never changes."""

    name: str
    min: int
    max: int
    multiple_of: int
    description: str
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that is not a size. ``min`` and ``max`` are None where it has no bound.

    ``shown`` ones are told of in the statement; others are for data only.
    """

    name: str
    default: Number
    min: Number | None
    max: Number | None
    description: str
    shown: bool = True


@dataclass(frozen=True, slots=True)
class PackLimits:
    """The limits of a challenge.

    ``wall_s`` bounds one call of ``solve``; ``memory_mib`` what it may allocate on the device beyond its arguments.
    """

    wall_s: float
    memory_mib: int


@dataclass(frozen=True, slots=True)
class PackEmulator:
    """``reads_are_errors``: a read outside of the buffers, which only the emulator detects, is an RE and no warning."""

    reads_are_errors: bool


@dataclass(frozen=True, slots=True)
class PackBuild:
    """How submissions are built: the C++ standard and the libraries, and the languages that they may be in.

    ``languages`` is empty where they may be in any. ``language`` is that of the submission that is built.
    """

    std: str
    libraries: tuple[str, ...]
    languages: tuple[str, ...] = ()
    language: str = DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class PackBench:
    """The least that a timed call has to move (``bytes``) and compute (``flops``).

    ``arithmetic`` is the type whose measured peak the roofline is drawn with (judge.gpu.calibration.RATES).
    ``budget_s`` is the time on a GPU for the timed calls of all benchmarks beyond those that must be made. ``medals``
    is None where the pack declares none.
    """

    bytes: Expression
    flops: Expression
    arithmetic: str
    budget_s: float
    medals: Medals | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Further reading."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Case:
    """One set of sizes and contents.

    ``distributions`` replace those of the arguments they name. ``guessable`` means that a copy of an input or a
    constant is the right answer here.
    """

    id: str
    group: CaseGroup
    axes: dict[str, int]
    parameters: dict[str, Number]
    distributions: dict[str, Distribution]
    devices: tuple[DeviceKind, ...]
    description: str
    guessable: bool = False
    #: Inputs of which a user typed the values.
    typed: dict[str, tuple[Number, ...]] = field(default_factory=dict)

    @property
    def is_public(self) -> bool:
        """Whether its inputs and outputs may be shown. They are the same in every judgement."""
        return self.group in ("sample", "custom")

    @property
    def variables(self) -> dict[str, Number]:
        """Axes and parameters, as expressions see them."""
        return {**self.axes, **self.parameters}

    def with_variable(self, name: str, value: int) -> Case:
        """Returns the case with another value of an axis or parameter, and the same random numbers."""
        if name in self.axes:
            return dataclasses.replace(self, axes={**self.axes, name: value})
        return dataclasses.replace(self, parameters={**self.parameters, name: value})

    def distribution(self, argument: Argument) -> Distribution | None:
        """Returns the distribution of an argument in this case; None where the pack's ``make_inputs`` makes it."""
        return self.distributions.get(argument.name) or argument.distribution


def _no_shapes(_: Pack, __: DeviceKind) -> tuple[CallShape, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Pack:
    """One challenge.

    ``digest`` covers what decides a judgement: ``reference.py``, and ``challenge.toml`` but for descriptions.
    """

    slug: str
    title: str
    version: str
    digest: str
    difficulty: str
    tags: tuple[str, ...]
    license: str
    links: tuple[Link, ...]
    directory: Path
    axes: tuple[Axis, ...]
    parameters: tuple[Parameter, ...]
    arguments: tuple[Argument, ...]
    constraints: tuple[Constraint, ...]
    limits: PackLimits
    build: PackBuild
    emulator: PackEmulator
    bench: PackBench
    cases: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    reference: Reference = field(repr=False)
    #: What libraries do the same task.
    baselines: Baselines = field(default_factory=Baselines)
    #: Other names that people search for.
    aliases: tuple[str, ...] = ()
    #: The axis or parameter that says how often the same step is done.
    rounds: str | None = None
    #: Mutants of answers and kernels that are right here, with the reason (judge.verify).
    equivalent: dict[str, str] = field(default_factory=dict)
    #: Codes of a verification's findings that cannot be avoided here, with the reason.
    waived: Mapping[str, str] = field(default_factory=dict)
    #: Axes, parameters and constraints whose end no case reaches, with the reason (judge.verify.reach).
    unreached: Mapping[str, str] = field(default_factory=dict)
    #: What ``call_shapes`` returns (judge.packs.call_shapes).
    shapes_of: Callable[[Pack, DeviceKind], Sequence[CallShape]] = field(repr=False, compare=False, default=_no_shapes)
    #: Whether its code runs only where it cannot read the judge's files, and on no GPU: nobody vouches for its author.
    confined: bool = False
    #: By metric, from our own kernels (judge.packs.medals).
    default_medals: Mapping[str, Medals] = field(default_factory=dict)

    @property
    def major(self) -> int:
        """The version that leaderboards are kept by."""
        return int(self.version.split(".")[0])

    @property
    def fewest_rounds(self) -> int:
        """The least value of what ``rounds`` names."""
        axes = {axis.name: axis.min for axis in self.axes}
        least = {parameter.name: parameter.min for parameter in self.parameters}
        return int(axes.get(self.rounds or "") or least.get(self.rounds or "") or 1)

    def medals_for(self, metric: str) -> Medals | None:
        """Returns the medals for scores of this metric or scale (``time_s``, ``modelled_time_s/h200/1``), or None."""
        own = self.default_medals.get(metric.partition("/")[0])
        # Declared ones are for the sizes of GPUs; the emulator's small case leaves another share within reach.
        return (own or self.bench.medals) if metric.startswith("modelled_") else (self.bench.medals or own)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The buffers that a call gets contents in: in and inout."""
        return tuple(argument for argument in self.arguments if argument.is_input)

    @property
    def data_files(self) -> tuple[str, ...]:
        """The names of the files in ``directory`` that inputs come from, sorted."""
        declared = [argument.distribution for argument in self.arguments]
        for case in (*self.cases, *self.benchmarks):
            declared += case.distributions.values()
        return tuple(sorted({each.path.name for each in declared if isinstance(each, FromFile)}))

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The arguments that are judged: out and inout."""
        return tuple(argument for argument in self.arguments if argument.is_output)

    @property
    def signature_text(self) -> str:
        return signature.signature_text(self.arguments)

    def prototype(self) -> str:
        return signature.prototype(self.arguments)

    def header(self) -> str:
        """The text of ``solve.h``."""
        return signature.header(self.arguments)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that submissions may be in, the usual one first."""
        return self.build.languages or tuple(BUILTIN_LANGUAGES)

    def in_language(self, name: str) -> Pack:
        """Returns the pack for submissions in this language. Raises ValueError where it takes none."""
        if name not in self.languages:
            raise ValueError(f"{self.slug} takes no submissions in '{name}', but in: {', '.join(self.languages)}")
        return dataclasses.replace(self, build=dataclasses.replace(self.build, language=name))

    def starter(self) -> str:
        """The text of the file that the editor begins with."""
        return BUILTIN_LANGUAGES.of(self.build.language).starter(self)

    def call_shapes(self, kind: DeviceKind) -> Sequence[CallShape]:
        """The arguments of all calls that a submission is judged by on a kind of device, without contents."""
        return self.shapes_of(self, kind)

    def cases_for(self, kind: DeviceKind) -> tuple[Case, ...]:
        """The functional cases for a kind of device, samples first, in pack order."""
        return tuple(case for case in self.cases if kind in case.devices)

    def benchmarks_for(self, kind: DeviceKind) -> tuple[Case, ...]:
        """The cases timed on a kind of device."""
        return tuple(case for case in self.benchmarks if kind in case.devices)
