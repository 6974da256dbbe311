"""The form of ``challenge.toml`` (schema version 2): pydantic models that refuse misspelt, missing and invalid values.

Only the loader uses them; everything else uses the frozen data of :mod:`judge.packs.pack`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge.kinds import KINDS, check_kind
from judge.languages.registry import check_language
from judge.packs.data.data_files import NAME as DATA_FILE
from judge.wire.recipe import MAX_CHOICES

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=32)]
Version = Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
Alias = Annotated[str, Field(min_length=1, max_length=80)]
ExpressionText = str | int | float
Reason = Annotated[str, Field(min_length=10)]
#: Findings of a verification that are a matter of judgement (judge.verify).
WaivableCode = Literal[
    "bench-cached", "bench-large", "bench-long", "bench-short", "case-large", "check-cost", "shortcut"
]
KindName = Annotated[str, AfterValidator(check_kind)]
LanguageName = Annotated[str, AfterValidator(check_language)]
#: The values of the axes in one case, in the order of ``[axes]``.
Row = tuple[int, ...]
#: Rows, whose ids are made from the sizes, or rows by their ids.
Rows = tuple[Row, ...] | dict[Slug, Row]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SentinelsModel(_Strict):
    """A few large values of alternating sign at random positions; see judge.packs.data.recipes."""

    count: int = Field(ge=1, le=4096)
    magnitude: float = Field(gt=0)


_NEEDS: dict[str, set[str]] = {
    "uniform": {"low", "high"},
    "integers": {"low", "high"},
    "normal": {"mean", "sd"},
    "constant": {"value"},
    "zeros": set(),
    "sorted": {"of"},
    "sparse": {"share", "of"},
    "choice": {"values"},
    "one-hot": set(),
    "permutation": set(),
    "offsets": {"total"},
    "file": {"file", "sha256"},
}
_OPTIONAL = {"kind", "sentinels"}
_WITH_SENTINELS = ("uniform", "integers", "normal", "constant")
_BASES = {"sorted": ("uniform", "integers"), "sparse": ("uniform", "normal", "integers")}


class DataModel(_Strict):
    """The data of an input; see judge.packs.data.recipes."""

    kind: Literal[
        "uniform", "normal", "integers", "constant", "zeros", "sorted", "sparse", "choice", "one-hot", "permutation",
        "offsets", "file",
    ]  # fmt: skip
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    sd: float | None = Field(default=None, gt=0)
    value: float | None = None
    share: float | None = Field(default=None, gt=0, lt=1)
    values: tuple[float, ...] | None = Field(default=None, min_length=2, max_length=MAX_CHOICES)
    total: ExpressionText | None = None
    of: DataModel | None = None
    file: Annotated[str, Field(pattern=f"^{DATA_FILE.pattern}$")] | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    sentinels: SentinelsModel | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> DataModel:
        needs = _NEEDS[self.kind]
        given = {key for key in type(self).model_fields if getattr(self, key) is not None} - _OPTIONAL
        if given != needs:
            takes = " and ".join(sorted(needs)) or "nothing more"
            raise ValueError(f"data of the kind {self.kind} takes {takes}")
        if self.sentinels is not None and self.kind not in _WITH_SENTINELS:
            raise ValueError(f"data of the kind {self.kind} takes no sentinels")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low {self.low} lies above high {self.high}")
        if self.kind == "integers" and (self.low != int(self.low or 0) or self.high != int(self.high or 0)):
            raise ValueError("the bounds of integers must be whole")
        if self.of is not None and self.of.kind not in _BASES[self.kind]:
            raise ValueError(f"data of the kind {self.kind} is made of {' or '.join(_BASES[self.kind])}")
        if self.kind == "sorted" and self.of is not None and self.of.sentinels is not None:
            raise ValueError("sorted data takes no sentinels")
        return self


class AxisModel(_Strict):
    """A size. Cases must lie within ``min`` and ``max`` and be a multiple of ``multiple_of``.

    A ``fixed`` one is the same in all calls of a benchmark, because the range of an input depends on it.
    """

    min: int = Field(default=1, ge=0)
    max: int
    multiple_of: int = Field(default=1, ge=1)
    fixed: bool = False
    description: str = ""


class ParameterModel(_Strict):
    """A number that is not a size (alpha, a scale, a zero point). ``integer`` ones must be whole."""

    default: float
    min: float | None = None
    max: float | None = None
    integer: bool = False
    description: str = ""


class ArrayModel(_Strict):
    """The array behind a pointer of the signature."""

    shape: tuple[ExpressionText, ...] = Field(min_length=1)
    #: By default "in" for a const pointer, else "out".
    role: Literal["in", "out", "inout"] | None = None
    data: DataModel | None = None
    initial: Literal["zero", "poison"] = "zero"
    description: str = ""


class ToleranceModel(_Strict):
    """The kind of bound for one output; see judge.check.tolerance."""

    kind: Literal["auto", "exact", "elementwise", "sum", "dot", "softmax", "normalized", "close"]
    accumulate: Literal["float16", "float32", "float64"] = "float32"
    terms: ExpressionText | None = None
    absolute: float = Field(default=0.0, ge=0)
    relative: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> ToleranceModel:
        if self.kind == "close" and not (self.absolute or self.relative):
            raise ValueError(
                "'close' takes absolute, relative or both: the error may be absolute + relative * |expected|"
            )
        if self.kind != "close" and (self.absolute or self.relative):
            raise ValueError("absolute and relative belong to 'close'")
        if self.kind in ("auto", "exact", "close") and self.terms is not None:
            raise ValueError(f"'{self.kind}' counts no terms; leave terms out")
        return self


class LimitsModel(_Strict):
    """Bounds on one call of ``solve``. ``memory_mib`` is what it may allocate itself, beyond its arguments."""

    wall_s: float = Field(default=5.0, gt=0, le=600)
    memory_mib: int = Field(default=1024, ge=1)


class EmulatorModel(_Strict):
    """The verdict on errors that only the emulator detects."""

    out_of_bounds_reads: Literal["warning", "error"] = "warning"


class BuildModel(_Strict):
    """How submissions are compiled."""

    #: Those that submissions may be in, the usual one first; by default any.
    languages: tuple[LanguageName, ...] = ()
    std: Literal["c++17", "c++20"] = "c++17"
    libraries: tuple[str, ...] = ()


class CaseModel(_Strict):
    """One set of sizes and contents, in full."""

    #: By default made from the sizes.
    id: Slug | None = None
    group: Literal["sample", "hidden"] = "hidden"
    axes: dict[Name, int]
    parameters: dict[Name, float] = {}
    data: dict[Name, DataModel] = {}
    devices: tuple[KindName, ...] = Field(default=tuple(KINDS), min_length=1)
    description: str = ""
    #: A copy of an input or a constant is the right answer here, so ``gpujudge pack verify`` allows it.
    guessable: bool = False


class BenchmarkModel(_Strict):
    """A case that is timed, in full."""

    id: Slug | None = None
    axes: dict[Name, int]
    parameters: dict[Name, float] = {}
    data: dict[Name, DataModel] = {}
    devices: tuple[KindName, ...] = Field(min_length=1)
    description: str = ""


class MedalsModel(_Strict):
    """Shares of what the roofline allows that earn a medal."""

    bronze: float = Field(gt=0, le=1)
    silver: float = Field(gt=0, le=1)
    gold: float = Field(gt=0, le=1)

    @model_validator(mode="after")
    def _rise(self) -> MedalsModel:
        if not self.bronze < self.silver < self.gold:
            raise ValueError("must rise from bronze to gold")
        return self


class BenchModel(_Strict):
    """The least that a timed call has to move and compute, over axes and parameters.

    ``arithmetic`` is the type whose measured peak the roofline is drawn with. ``budget_s`` is the time on a GPU for the
    timed calls of all cases in three processes, beyond those that each process must make.
    """

    bytes: ExpressionText
    flops: ExpressionText
    arithmetic: Literal["fp64", "fp32", "tf32", "fp16", "bf16", "int8"] = "fp32"
    budget_s: float = Field(default=6.0, gt=0, le=60)
    medals: MedalsModel | None = None


class BaselineModel(_Strict):
    """A library's call (judge.packs.baselines)."""

    library: str = Field(min_length=1, max_length=40)
    module: Literal["torch", "cupy"] = "torch"
    conditions: str = Field(default="", max_length=120)
    on_cpu: bool = True
    compiles: str = ""


class LinkModel(_Strict):
    """Further reading."""

    title: str
    url: str = Field(pattern=r"^https://")


class ChallengeModel(_Strict):
    """The whole file."""

    # `schema` would hide a method of BaseModel.
    schema_version: Literal[2] = Field(alias="schema")
    title: str = Field(min_length=1, max_length=80)
    #: Other names that people search for: those of other sites and libraries, abbreviations, the other spelling.
    aliases: tuple[Alias, ...] = Field(default=(), max_length=20)
    version: Version
    difficulty: Literal["easy", "medium", "hard"]
    tags: tuple[str, ...] = ()
    license: str = "Apache-2.0"
    signature: str
    constraints: tuple[str, ...] = ()
    sample_sizes: Rows = ()
    sizes: Rows = ()
    benchmark_sizes: dict[KindName, Rows] = {}
    links: tuple[LinkModel, ...] = ()
    axes: dict[Name, AxisModel]
    parameters: dict[Name, ParameterModel] = {}
    #: The axis or parameter that says how often the same step is done, if one does.
    rounds: Name | None = None
    #: Values of scalars that are neither an axis nor a parameter, over both.
    scalars: dict[Name, ExpressionText] = {}
    arrays: dict[Name, ArrayModel]
    tolerance: dict[Name, ToleranceModel] = {}
    bench: BenchModel
    limits: LimitsModel = LimitsModel()
    build: BuildModel = BuildModel()
    emulator: EmulatorModel = EmulatorModel()
    #: What libraries do the same task, by function of baselines.py; or, as ``none``, why none does.
    baselines: dict[Name, BaselineModel | Reason] = {}
    #: Mutants that a verification finds to survive and that are right here, each with the reason.
    equivalent: dict[str, Reason] = {}
    #: Codes of findings of a verification that this challenge cannot avoid, each with the reason.
    waived: dict[WaivableCode, Reason] = {}
    #: Axes, parameters and constraints (by name or text) whose end no case reaches, each with the reason.
    unreached: dict[str, Reason] = {}
    cases: tuple[CaseModel, ...] = ()
    benchmarks: tuple[BenchmarkModel, ...] = ()
