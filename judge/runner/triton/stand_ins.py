"""The modules ``triton``, ``triton.language``, ``torch`` and ``gpujudge_triton`` as a submission's host code sees them.

They have what launches kernels and makes arrays. Anything else of theirs is refused by name when it is used. What is
named only inside of kernels is never used here, since their bodies do not run.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from judge.runner.triton.allocator import Allocator
from judge.runner.triton.arrays import DEVICE, Memory, Tensor
from judge.runner.triton.dtypes import DTYPES
from judge.runner.triton.kernels import Autotuned, Config, Heuristic, Kernel, Launcher

if TYPE_CHECKING:
    from judge.runner.device import TensorModule

#: The device's properties as programs read them: an A100's multiprocessor, which PTX for sm_80 is made for.
PROPERTIES = {
    "multiprocessor_count": 132, "max_shared_mem": 166912, "max_num_regs": 65536, "warpSize": 32,
    "sm_clock_rate": 1980000, "mem_clock_rate": 2619000, "mem_bus_width": 5120,
}  # fmt: skip

_LANGUAGE_TYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8e4nv": "fp8e4nv",
    "float8e5": "fp8e5", "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


class LanguageType:
    """A type of ``triton.language``, such as ``tl.float32``."""

    def __init__(self, name: str, triton: str) -> None:
        self.name, self.triton_dtype = name, triton

    def __repr__(self) -> str:
        return f"tl.{self.name}"


class Constexpr:
    """``tl.constexpr``: an annotation, and a constant that kernels read."""

    def __init__(self, value: Any) -> None:
        self.value = getattr(value, "constexpr_value", value)

    @property
    def constexpr_value(self) -> Any:
        return self.value

    def __index__(self) -> int:
        return int(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __eq__(self, other: object) -> bool:
        return bool(self.value == getattr(other, "constexpr_value", other))

    def __hash__(self) -> int:
        return hash(self.value)


Constexpr.__name__ = "constexpr"  # by which annotations are known


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lt", "le", "gt", "ge", "lshift", "rshift"):

    def _operate(self: Constexpr, other: Any, _name: str = _name) -> Any:
        return Constexpr(getattr(self.value, f"__{_name}__")(getattr(other, "constexpr_value", other)))

    setattr(Constexpr, f"__{_name}__", _operate)


class Absent:
    """Something of Triton that means something inside of kernels only, or of PyTorch that is not here."""

    def __init__(self, name: str, why: str) -> None:
        self._name, self._why = name, why
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._why)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError(f"{self._name} {self._why}")

    def __repr__(self) -> str:
        return self._name


_IN_KERNELS = "works inside of kernels only"
_NOT_OF_TRITON = "is not there: the judge launches kernels that were compiled ahead, without Triton's own runtime"
_OF_THE_HOST = (
    "is not there on the host: pass the array, its extents and strides, and make the descriptor in the kernel by "
    "tl.make_tensor_descriptor"
)
#: The functions that make arrays.
_MAKERS = (
    "empty",
    "empty_like",
    "zeros",
    "zeros_like",
    "ones",
    "ones_like",
    "full",
    "full_like",
    "tensor",
    "arange",
)
_NOT_OF_TORCH = (
    f"is not there: of PyTorch a submission has {', '.join(_MAKERS)}, the types and Tensor, unless a GPU's worker has "
    "PyTorch itself"
)


class _Module(ModuleType):
    """A module of which every name is there; what it has not is refused when it is used."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._why = why

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}", self._why)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules below the stand-ins, such as ``triton.language.extra``, which are only named in kernels."""

    def __init__(self, modules: Sequence[ModuleType]) -> None:
        self._modules = {module.__name__: module for module in modules}
        #: The packages that it finds.
        self.tops = {name.partition(".")[0] for name in self._modules}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname.partition(".")[0] not in self.tops:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        known = self._modules.get(spec.name)
        if known is not None:
            return known
        return _Module(spec.name, _NOT_OF_TORCH if spec.name.startswith("torch.") else _IN_KERNELS)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: a stand-in is made whole."""


def install(launcher: Launcher, memory: Memory, pytorch: TensorModule | None = None) -> Callable[[], None]:
    """Puts the stand-ins in the place of the modules. Returns what takes them away again.

    With ``pytorch`` that module stays in its place.
    """
    language = _language()
    made = _triton(launcher, language, DEVICE if pytorch is None else pytorch.device)
    if pytorch is None:
        made += [*_torch(memory), _own(DTYPES, _functions(Allocator(memory)), Tensor)]
    else:
        types = {name: getattr(pytorch.module, name) for name in DTYPES if hasattr(pytorch.module, name)}
        made.append(_own(types, pytorch.makers, pytorch.module.Tensor))
    finder = _Finder((*made, language))
    _forget(finder)  # PyTorch may have imported Triton
    sys.meta_path.insert(0, finder)

    def remove() -> None:
        sys.meta_path.remove(finder)
        _forget(finder)

    return remove


def _forget(finder: _Finder) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in finder.tops:
            del sys.modules[name]


def torch_alone(memory: Memory) -> None:
    """Puts the stand-ins of PyTorch and of the judge's own module in their place, beside the real Triton."""
    finder = _Finder((*_torch(memory), _own(DTYPES, _functions(Allocator(memory)), Tensor)))
    _forget(finder)
    sys.meta_path.insert(0, finder)


def cdiv(x: int, y: int) -> int:
    """Returns x / y, rounded up."""
    return -(-int(x) // int(y))


def next_power_of_2(n: int) -> int:
    """Returns the smallest power of two that is not below n."""
    return 1 << max(0, int(n) - 1).bit_length() if int(n) > 0 else 0


def _triton(launcher: Launcher, language: ModuleType, device: Any) -> list[ModuleType]:
    triton = _Module("triton", _NOT_OF_TRITON)

    def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
        if fn is None:
            return lambda function: Kernel(function, launcher, **options)
        return Kernel(fn, launcher, **options)

    def autotune(configs: Sequence[Config], key: Sequence[str] = (), **options: Any) -> Any:
        del key
        return lambda inside: Autotuned(inside, configs, options.get("prune_configs_by"), launcher)

    def heuristics(values: Any) -> Any:
        return lambda inside: Heuristic(inside, values)

    runtime = _Module("triton.runtime", _NOT_OF_TRITON)
    runtime.driver = runtime_driver(device)  # type: ignore[attr-defined]
    runtime.JITFunction = Kernel  # type: ignore[attr-defined]
    tools, descriptors = (_Module(f"triton.tools{part}", _NOT_OF_TRITON) for part in ("", ".tensor_descriptor"))
    descriptors.TensorDescriptor = Absent("TensorDescriptor", _OF_THE_HOST)  # type: ignore[attr-defined]
    given = {
        "jit": jit, "autotune": autotune, "heuristics": heuristics, "Config": Config, "cdiv": cdiv,
        "next_power_of_2": next_power_of_2, "JITFunction": Kernel, "__version__": "3.9.0", "runtime": runtime,
        "set_allocator": lambda _: None, "language": language,
    }  # fmt: skip
    for name, value in given.items():
        setattr(triton, name, value)
    return [triton, runtime, tools, descriptors]


def runtime_driver(device: Any = DEVICE) -> Any:
    """Returns the stand-in for ``triton.runtime.driver`` in host code: it names the device and its size."""

    class Utils:
        @staticmethod
        def get_device_properties(_: int = 0) -> dict[str, int]:
            return dict(PROPERTIES)

    class Active:
        utils = Utils()

        @staticmethod
        def get_active_torch_device() -> Any:
            return device

        @staticmethod
        def get_current_device() -> int:
            return 0

        @staticmethod
        def get_current_target() -> Any:
            return SimpleNamespace(backend="cuda", arch=80, warp_size=32)

    class Driver:
        active = Active()

        @staticmethod
        def set_active(_: object) -> None:
            """Does nothing."""

    return Driver()


def _language() -> ModuleType:
    language = _Module("triton.language", _IN_KERNELS)
    language.constexpr = Constexpr  # type: ignore[attr-defined]
    language.cdiv = cdiv  # type: ignore[attr-defined]
    # Annotations, which are evaluated on the host.
    for name in ("pointer_type", "block_type"):
        setattr(language, name, lambda *_, called=name: LanguageType(called, ""))
    for name, triton in _LANGUAGE_TYPES.items():
        setattr(language, name, LanguageType(name, triton))
    return language


class _AutogradContext:
    """Keeps nothing: there is no way back."""

    def save_for_backward(self, *_: object) -> None:
        """Does nothing."""


class AutogradFunction:
    """``torch.autograd.Function``: people wrap their launches in one, of which only ``forward`` is used."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls ``forward``."""
        forward = getattr(cls, "forward", None)
        if forward is None:
            raise NotImplementedError(f"{cls.__name__} has no forward")
        return forward(_AutogradContext(), *args, **kwargs)


class _Stream:
    """The only stream. It runs everything in order."""

    cuda_stream = 0

    def __init__(self, *_: object, **__: object) -> None:
        """Takes the same arguments as PyTorch."""

    def synchronize(self) -> None:
        """Does nothing."""

    def wait_stream(self, _: _Stream) -> None:
        """Does nothing."""


class _Nothing:
    """Does nothing, as a context and as a decorator: ``torch.no_grad()``, ``torch.cuda.device(x.device)``."""

    def __init__(self, *_: object, **__: object) -> None:
        """Takes the same arguments as PyTorch."""

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, *_: object) -> None:
        """Does nothing."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


def _torch(memory: Memory) -> list[ModuleType]:
    allocator = Allocator(memory)
    torch, cuda, autograd = (_Module(f"torch{part}", _NOT_OF_TORCH) for part in ("", ".cuda", ".autograd"))
    autograd.Function = AutogradFunction  # type: ignore[attr-defined]
    given: dict[str, Any] = {
        **DTYPES, **_functions(allocator), "Tensor": Tensor, "device": lambda *_: DEVICE, "cuda": cuda,
        "autograd": autograd, "manual_seed": lambda _: None,
        "Size": tuple, "no_grad": _Nothing, "inference_mode": _Nothing, "inf": math.inf, "nan": math.nan, "pi": math.pi,
    }  # fmt: skip
    for name, value in given.items():
        setattr(torch, name, value)
    properties = type("Properties", (), {"multi_processor_count": PROPERTIES["multiprocessor_count"], "name": "GPU"})
    for name, value in {
        "is_available": lambda: True, "current_device": lambda: 0, "device_count": lambda: 1,
        "synchronize": lambda *_: None, "set_device": lambda *_: None, "device": _Nothing,
        "get_device_properties": lambda *_: properties(),
        "get_device_capability": lambda *_: (8, 0), "get_device_name": lambda *_: "GPU",
        "empty_cache": lambda: None,
        "Stream": _Stream, "stream": _Nothing, "current_stream": _Stream, "default_stream": _Stream,
    }.items():  # fmt: skip
        setattr(cuda, name, value)
    return [torch, cuda, autograd]


def _own(types: Mapping[str, Any], makers: Mapping[str, Any], tensor: Any) -> ModuleType:
    own = _Module("gpujudge_triton", f"is not there: it has {', '.join(_MAKERS)} and the types")
    for name, value in {**types, **makers, "Tensor": tensor}.items():
        setattr(own, name, value)
    return own


def _functions(allocator: Allocator) -> dict[str, Callable[..., Tensor]]:
    return {name: functools.partial(getattr(allocator, name)) for name in _MAKERS}
