"""Stand-ins for ``@triton.jit`` and what is put around it: they launch kernels that were compiled ahead.

A launch ends at the ``Launcher`` of the process: that of the recording pass notes what is launched, that of a runner
starts it on the device.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from judge.runner.triton.specialization import (
    IGNORED_OPTIONS,
    OPTIONS,
    Parameter,
    Specialization,
    fixed_type,
    specialize,
)

#: Configurations that an autotuner takes.
MAX_CONFIGS = 64
_GRID = 3


class Launcher(Protocol):
    """What a launch becomes."""

    def launch(
        self, special: Specialization, general: Specialization, names: Sequence[str], grid: tuple[int, int, int],
        values: Sequence[Any],
    ) -> None:  # fmt: skip
        """Launches the kernel on ``values``, its arguments in order."""


class Kernel:
    """A function under ``@triton.jit``: ``kernel[grid](*arguments)`` launches it."""

    def __init__(self, function: Callable[..., Any], launcher: Launcher, **options: Any) -> None:
        self.fn = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._launcher = launcher
        self._signature = inspect.signature(function)
        self.arg_names = list(self._signature.parameters)
        plain = _chosen(options.get("do_not_specialize"), self.arg_names)
        unaligned = _chosen(options.get("do_not_specialize_on_alignment"), self.arg_names)
        self._debug = bool(options.get("debug"))
        self._parameters = tuple(
            Parameter(
                name, is_constant=is_constant(parameter.annotation), fixed=_fixed(parameter.annotation),
                specialized=name not in plain, aligned=name not in unaligned,
            )
            for name, parameter in self._signature.parameters.items()
        )  # fmt: skip

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
        options = dict(OPTIONS)
        if self._debug:
            options["debug"] = True
        for name in list(kwargs):
            if name in self._signature.parameters:
                continue
            if name in OPTIONS or name == "debug":
                options[name] = kwargs.pop(name)
            elif name in IGNORED_OPTIONS:
                kwargs.pop(name)
            else:
                raise TypeError(f"{self.__name__}() has no argument and no launch has an option {name!r}")
        bound = self._bound(args, kwargs)
        qualified, line = self.kernel_place
        special, general = specialize(qualified, line, self._parameters, list(bound.values()), options)
        extents = _extents(grid(dict(bound)) if callable(grid) else grid)
        if math.prod(extents):
            self._launcher.launch(special, general, self.arg_names, extents, list(bound.values()))

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return {name: bound.arguments[name] for name in self.arg_names}


class Config:
    """One configuration of an autotuner, as ``triton.Config``."""

    def __init__(
        self, kwargs: Mapping[str, Any], num_warps: int = 4, num_stages: int = 3, num_ctas: int = 1,
        maxnreg: int | None = None, pre_hook: Callable[..., None] | None = None, **_: Any,
    ) -> None:  # fmt: skip
        self.kwargs = dict(kwargs)
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, num_ctas, maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        """Returns the arguments and the options that the configuration sets."""
        options = {
            "num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
        }  # fmt: skip
        return {**self.kwargs, **options}


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
    """A kernel under ``@triton.autotune``. The judge compiles ahead and times no configurations: the first one that is
    left runs."""

    def __init__(self, inside: Any, configs: Sequence[Config], prune: Mapping[str, Any] | None) -> None:
        super().__init__(inside)
        if len(configs) > MAX_CONFIGS:
            raise ValueError(f"{self.__name__} has {len(configs)} configurations; at most {MAX_CONFIGS} are taken")
        self.configs = list(configs) or [Config({})]
        self._prune = prune or {}

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        config = self.configs[0]
        named = dict(zip(self.arg_names, args, strict=False))
        if (early := self._prune.get("early_config_prune")) is not None:
            config = next(iter(early(self.configs, named, **kwargs)), config)
        if config.pre_hook is not None:
            config.pre_hook({**named, **kwargs, **config.kwargs})
        self.best_config = config
        self.fn.run(*args, grid=grid, **{**kwargs, **config.all_kwargs()})


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
    return fixed_type(annotation if isinstance(annotation, str) else getattr(annotation, "triton_dtype", ""))


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
