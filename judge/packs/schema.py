"""The form of ``challenge.toml`` (schema version 1): pydantic models that refuse misspelt, missing and invalid values.

Only the loader uses them; everything else uses the frozen data of :mod:`judge.packs.pack`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge.kinds import KINDS, check_kind
from judge.languages.registry import DEFAULT_LANGUAGE, check_language

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=32)]
Version = Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
ExpressionText = str | int | float
KindName = Annotated[str, AfterValidator(check_kind)]
LanguageName = Annotated[str, AfterValidator(check_language)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SentinelsModel(_Strict):
    """A few large values of alternating sign at random positions; see judge.packs.recipes."""

    count: int = Field(ge=1, le=4096)
    magnitude: float = Field(gt=0)


_NEEDS = {
    "uniform": {"low", "high"},
    "integers": {"low", "high"},
    "normal": {"mean", "sd"},
    "constant": {"value"},
}


class DistributionModel(_Strict):
    """What fills an array."""

    kind: Literal["uniform", "normal", "integers", "constant"]
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    sd: float | None = Field(default=None, gt=0)
    value: float | None = None
    sentinels: SentinelsModel | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> DistributionModel:
        needs = _NEEDS[self.kind]
        given = {key for key in ("low", "high", "mean", "sd", "value") if getattr(self, key) is not None}
        if given != needs:
            raise ValueError(f"a {self.kind} distribution takes {' and '.join(sorted(needs))}")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low {self.low} lies above high {self.high}")
        if self.kind == "integers" and (self.low != int(self.low or 0) or self.high != int(self.high or 0)):
            raise ValueError("the bounds of integers must be whole")
        return self


class AxisModel(_Strict):
    """A size. Cases must lie within ``min`` and ``max`` and be a multiple of ``multiple_of``."""

    min: int = Field(default=1, ge=1)
    max: int
    multiple_of: int = Field(default=1, ge=1)
    description: str = ""


class ParameterModel(_Strict):
    """A number that is not a size (alpha, a scale, a zero point). ``integer`` ones must be whole."""

    default: float
    min: float | None = None
    max: float | None = None
    integer: bool = False
    description: str = ""


class ArgumentModel(_Strict):
    """One argument of ``solve``, in order."""

    name: Name
    type: str
    role: Literal["in", "out", "inout", "scalar"]
    shape: tuple[ExpressionText, ...] = ()
    #: A scalar's value over axes and parameters; by default its own name.
    value: ExpressionText | None = None
    distribution: DistributionModel | None = None
    initial: Literal["zero", "poison"] = "zero"
    description: str = ""


class ToleranceModel(_Strict):
    """The kind of bound for one output; see judge.check.tolerance."""

    kind: Literal["exact", "elementwise", "sum", "dot", "softmax", "normalized"]
    accumulate: Literal["float16", "float32", "float64"] = "float32"
    terms: ExpressionText = 1


class LimitsModel(_Strict):
    """Bounds on one call of ``solve``. ``memory_mib`` is what it may allocate itself, beyond its arguments."""

    wall_s: float = Field(default=5.0, gt=0, le=600)
    memory_mib: int = Field(default=1024, ge=1)


class EmulatorModel(_Strict):
    """The verdict on errors that only the emulator detects."""

    out_of_bounds_reads: Literal["warning", "error"] = "warning"


class BuildModel(_Strict):
    """How submissions are compiled."""

    language: LanguageName = DEFAULT_LANGUAGE
    std: Literal["c++17", "c++20"] = "c++17"
    libraries: tuple[str, ...] = ()


class CaseModel(_Strict):
    """One set of sizes and contents."""

    id: Slug
    group: Literal["sample", "hidden"] = "hidden"
    axes: dict[Name, int]
    parameters: dict[Name, float] = {}
    distributions: dict[Name, DistributionModel] = {}
    devices: tuple[KindName, ...] = Field(default=tuple(KINDS), min_length=1)
    description: str = ""
    #: A copy of an input or a constant is the right answer here, so ``gpujudge pack verify`` allows it.
    guessable: bool = False


class BenchmarkModel(_Strict):
    """A case that is timed."""

    id: Slug
    axes: dict[Name, int]
    parameters: dict[Name, float] = {}
    distributions: dict[Name, DistributionModel] = {}
    devices: tuple[KindName, ...] = Field(min_length=1)
    description: str = ""


class BenchModel(_Strict):
    """What a timed call has to move and compute at the least, over axes and parameters.

    ``arithmetic`` is the type whose measured peak the roofline is drawn with. ``budget_s`` is the time on a GPU for the
    timed calls of all cases in three processes, beyond those that each process must make.
    """

    bytes: ExpressionText
    flops: ExpressionText
    arithmetic: Literal["fp64", "fp32", "tf32", "fp16", "bf16", "int8"] = "fp32"
    budget_s: float = Field(default=6.0, gt=0, le=60)


class LinkModel(_Strict):
    """Further reading."""

    title: str
    url: str = Field(pattern=r"^https://")


class ChallengeModel(_Strict):
    """The whole file."""

    # `schema` would hide a method of BaseModel.
    schema_version: Literal[1] = Field(alias="schema")
    id: Slug
    title: str = Field(min_length=1, max_length=80)
    version: Version
    difficulty: Literal["easy", "medium", "hard"]
    tags: tuple[str, ...] = ()
    license: str
    track: str | None = None
    links: tuple[LinkModel, ...] = ()
    limits: LimitsModel = LimitsModel()
    build: BuildModel = BuildModel()
    emulator: EmulatorModel = EmulatorModel()
    axes: dict[Name, AxisModel]
    parameters: dict[Name, ParameterModel] = {}
    arguments: tuple[ArgumentModel, ...] = Field(min_length=1)
    tolerance: dict[Name, ToleranceModel]
    cases: tuple[CaseModel, ...] = Field(min_length=1)
    benchmarks: tuple[BenchmarkModel, ...] = Field(min_length=1)
    bench: BenchModel
