"""Stand-ins for ``@triton.jit`` and what is put around it: they launch kernels that were compiled ahead.

A launch ends at the ``Launcher`` of the process: that of the recording pass notes what is launched, that of a runner
starts it on the device.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Protocol

from judge.runner.triton.dtypes import triton_name
from judge.runner.triton.specialization import (
    IGNORED_OPTIONS,
    OPTIONS,
    Parameter,
    Specialization,
    arguments_of,
    fixed_type,
    specialize,
)
from judge.wire.python_program import MAX_CONFIGS

_GRID = 3


class NotCompiledError(RuntimeError):
    """Raised when no kernel was compiled for a launch."""


class Launcher(Protocol):
    """Performs the launches of kernels."""

    def launch_one_of(self, place: str, choices: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Launches one configuration of the autotuned kernel at ``place``.

        Each is given in words and as a launch; the first that compiles is taken unless another was chosen.
        """

    def launch(
        self,
        special: Specialization,
        general: Specialization,
        names: Sequence[str],
        grid: tuple[int, int, int],
        values: Sequence[Any],
    ) -> None:
        """Launches the kernel on ``values``, its arguments in order, those in tuples too.

        ``names`` are those of its parameters.
        """


class Kernel:
    """A function under ``@triton.jit``: ``kernel[grid](*arguments)`` launches it."""

    def __init__(self, function: Callable[..., Any], launcher: Launcher, **options: Any) -> None:
        self.fn = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._launcher = launcher
        signature = inspect.signature(function)
        self.arg_names = list(signature.parameters)
        plain = _chosen(options.get("do_not_specialize"), self.arg_names)
        unaligned = _chosen(options.get("do_not_specialize_on_alignment"), self.arg_names)
        self._debug = bool(options.get("debug"))
        parameters = signature.parameters.values()
        self._defaults = {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}
        self._known: dict[Any, tuple[Specialization, Specialization]] = {}
        self._parameters = tuple(
            Parameter(
                name,
                is_constant=is_constant(parameter.annotation),
                fixed=_fixed(parameter.annotation),
                specialized=name not in plain,
                aligned=name not in unaligned,
            )
            for name, parameter in signature.parameters.items()
        )

    @property
    def kernel_place(self) -> tuple[str, int]:
        """Names the kernel in its source."""
        return self.fn.__qualname__, self.fn.__code__.co_firstlineno

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def __call__(self, *_: object, **__: object) -> None:
        raise RuntimeError(f"{self.__name__} is a kernel: launch it by {self.__name__}[grid](...)")

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Launches the kernel. ``kwargs`` are arguments and options such as ``num_warps``."""
        values = self._values(args, kwargs)
        options = tuple(sorted(kwargs.items())) if kwargs else ()
        # Host time counts: what is like an earlier launch is not looked at again.
        mark = (options, *map(_mark, self._parameters, values))
        known = self._known.get(mark) if None not in mark else None
        if known is None:
            place = self.kernel_place
            known = specialize(*place, self._parameters, values, self._options(kwargs))
            if None not in mark:
                self._known[mark] = known
        extents = _extents(grid(dict(zip(self.arg_names, values, strict=True))) if callable(grid) else grid)
        if math.prod(extents):
            if known[0].structure:
                values = arguments_of(self._parameters, values)[1]
            self._launcher.launch(*known, self.arg_names, extents, values)

    def warmup(self, *_: Any, grid: Any = None, **kwargs: Any) -> WarmedUp:
        """Returns Triton's object for a kernel that it compiled without a launch."""
        del grid
        return WarmedUp(self, {name: value for name, value in kwargs.items() if name in OPTIONS})

    def _values(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Returns the arguments in their order, and takes them out of ``kwargs``. Raises TypeError."""
        values = list(args)
        for name in self.arg_names[len(values) :]:
            if name in kwargs:
                values.append(kwargs.pop(name))
            elif name in self._defaults:
                values.append(self._defaults[name])
            else:
                raise TypeError(f"{self.__name__}: missing a required argument: {name!r}")
        if len(values) > len(self.arg_names):
            raise TypeError(f"{self.__name__}: too many positional arguments")
        return values

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        options = {**OPTIONS, "debug": True} if self._debug else dict(OPTIONS)
        for name, value in given.items():
            if name in OPTIONS or name == "debug":
                options[name] = value
            elif name in self.arg_names:
                raise TypeError(f"{self.__name__}: multiple values for argument {name!r}")
            elif name not in IGNORED_OPTIONS:
                raise TypeError(f"{self.__name__}() has no argument and no launch has an option {name!r}")
        return options


class WarmedUp:
    """A kernel as ``warmup`` returns it.

    Registers and shared memory are guesses, the same in every process: what a kernel needs is known only once all that
    ``solve`` launches is compiled.
    """

    n_regs, n_spills, n_max_threads = 64, 0, 1024

    def __init__(self, kernel: Kernel, options: Mapping[str, Any]) -> None:
        self._kernel, self._options = kernel, dict(options)
        self.name = kernel.__name__
        self.metadata = SimpleNamespace(shared=0, name=self.name, **{**OPTIONS, **options})

    def _init_handles(self) -> None:
        """Does nothing."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **kwargs: self._kernel.run(*args, grid=grid, **{**self._options, **kwargs})


def _mark(parameter: Parameter, value: Any) -> Any:
    """Returns the properties of an argument that a launch depends on; None for one that has to be looked at."""
    kind = type(value)
    if parameter.is_constant:
        return (kind, value) if kind in (int, float, bool, str) else None
    if kind is int:
        return (value.bit_length() > 31, value > 0, value & 15 == 0, value == 1) if -(2**31) < value < 2**63 else None
    if kind in (float, bool):
        return kind
    if not hasattr(value, "data_ptr") or not value.is_cuda:
        return None
    return triton_name(value.dtype), value.data_ptr() & 15


class Config:
    """One configuration of an autotuner, as ``triton.Config``."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., None] | None = None,
        **_: Any,
    ) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, num_ctas, maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        """Returns the arguments and the options that the configuration sets."""
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
        }
        return {**self.kwargs, **options}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.all_kwargs().items() if value != OPTIONS.get(name))


class _Around:
    """A kernel with something around it. ``fn`` is what is inside."""

    def __init__(self, inside: Any) -> None:
        self.fn = inside
        self.arg_names: list[str] = inside.arg_names
        self.__name__ = inside.__name__

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    @property
    def kernel_place(self) -> tuple[str, int]:
        place: tuple[str, int] = self.fn.kernel_place
        return place

    def __call__(self, *_: object, **__: object) -> None:
        raise RuntimeError(f"{self.__name__} is a kernel: launch it by {self.__name__}[grid](...)")


class Autotuned(_Around):
    """A kernel under ``@triton.autotune``.

    It times nothing itself: the launcher takes one of the configurations that are left.
    """

    def __init__(
        self, inside: Any, configs: Sequence[Config], prune: Mapping[str, Any] | None, launcher: Launcher
    ) -> None:
        super().__init__(inside)
        self._launcher = launcher
        if len(configs) > MAX_CONFIGS:
            raise ValueError(f"{self.__name__} has {len(configs)} configurations; at most {MAX_CONFIGS} are taken")
        self.configs = list(configs) or [Config({})]
        self._prune = prune or {}

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        named = dict(zip(self.arg_names, args, strict=False))
        left = self.configs
        if (early := self._prune.get("early_config_prune")) is not None:
            left = list(early(self.configs, named, **kwargs)) or self.configs

        def launch(config: Config) -> None:
            if config.pre_hook is not None:
                config.pre_hook({**named, **kwargs, **config.kwargs})
            self.best_config = config
            self.fn.run(*args, grid=grid, **{**kwargs, **config.all_kwargs()})

        count = len(self.configs)
        choices = [(f"{self._number(each)} of {count} ({each})", functools.partial(launch, each)) for each in left]
        kernel, line = self.kernel_place
        self._launcher.launch_one_of(f"{kernel}:{line}", choices)

    def _number(self, config: Config) -> str:
        return str(self.configs.index(config) + 1) if config in self.configs else "one more"


class Heuristic(_Around):
    """A kernel under ``@triton.heuristics``: arguments that are computed from the others."""

    def __init__(self, inside: Any, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(inside)
        self._values = dict(values)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        for name, value in self._values.items():
            kwargs[name] = value({**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        self.fn.run(*args, grid=grid, **kwargs)


def is_constant(annotation: Any) -> bool:
    """Returns whether the annotation of a parameter says ``tl.constexpr``."""
    return "constexpr" in (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""))


def _fixed(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty or is_constant(annotation):
        return ""
    said = annotation if isinstance(annotation, str) else getattr(annotation, "triton_dtype", "")
    return fixed_type(said) if isinstance(said, str) else ""


def _chosen(given: Any, names: Sequence[str]) -> set[str]:
    """Returns the parameters that an option of ``@triton.jit`` names, by name or index."""
    return {names[each] if isinstance(each, int) else str(each) for each in given or ()}


def _extents(grid: Any) -> tuple[int, int, int]:
    extents = list(grid) if isinstance(grid, tuple | list) else [grid]
    if not 1 <= len(extents) <= _GRID or any(isinstance(each, bool) or not isinstance(each, int) for each in extents):
        raise TypeError(f"a grid is up to three whole numbers, and not {grid!r}")
    if any(each < 0 for each in extents):
        raise ValueError(f"a grid of {tuple(extents)}")
    first, second, third = (*extents, 1, 1)[:_GRID]
    return first, second, third
