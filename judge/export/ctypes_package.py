"""An exported kernel as a shared library, with a header and a wrapper in Python that needs nothing but ctypes."""

from __future__ import annotations

from judge.compile.artifact import Artifact
from judge.export import python
from judge.export.call import ExportedCall, identifier
from judge.wire.elements import Element


def ctypes_package(call: ExportedCall, artifact: Artifact) -> dict[str, bytes]:
    """Returns the files by their names. The library is the one that a judgement loads."""
    texts = {f"{call.name}.py": _wrapper(call), f"{call.name}.h": _header(call, artifact)}
    return {f"lib{call.name}.so": artifact.library, **{name: text.encode() for name, text in texts.items()}}


def _header(call: ExportedCall, artifact: Artifact) -> str:
    includes = "\n".join(line for line in call.pack.header().splitlines() if line.startswith("#include"))
    return f"""// {call.pack.title}, compiled for {artifact.target.arch} by nvcc {artifact.compiler_version}.
// Pointers lie on the GPU. solve launches on the default stream of the current device and may return before its end.
#pragma once
{includes}

#ifdef __cplusplus
extern "C"
#endif
{call.pack.prototype()};
"""


def _wrapper(call: ExportedCall) -> str:
    types = {
        each.name: "ctypes.c_void_p" if each.is_pointer else f"ctypes.{each.element.facts.ctypes_name}"
        for each in call.pack.arguments
    }
    pointers = [each for each in call.pack.arguments if each.is_pointer]
    names = ", ".join(identifier(each.name) for each in pointers)
    taken = ", ".join([*(identifier(each.name) for each in pointers), *python.keywords(call, typed=False), "stream=0"])
    scalars = python.tuple_of(python.scalars(call))
    checks = [
        *(f"{identifier(each.name)}_shape = _shape({identifier(each.name)})" for each in call.tensors),
        *(line.replace(".shape[", "_shape[") for line in python.read_sizes(call)),
        *(
            f'_check("{each.name}", {identifier(each.name)}, {python.shape(call, each.name)}, "{_kind(each.element)}")'
            for each in pointers
        ),
    ]
    return f'''"""{call.pack.title}: calls ``solve`` in lib{call.name}.so by ctypes.

    from {call.name} import {call.name}
    {call.name}({names}{"".join(f", {identifier(each.name)}" for each in call.keywords)}, stream=stream)

Arrays are contiguous, on the current GPU, with ``__cuda_array_interface__`` (CuPy, PyTorch, Numba). Outputs are
written in place. ``stream`` is a CUDA stream's handle: the call comes after what it has and before what follows.
"""

import ctypes
from pathlib import Path

_LEGACY = ctypes.c_void_p(1)
_library = None


def _load():
    global _library
    if _library is None:
        try:
            _library = ctypes.CDLL(str(Path(__file__).resolve().with_name("lib{call.name}.so")))
        except OSError as error:
            raise OSError(f"{{error}}: is CUDA's runtime (libcudart) in LD_LIBRARY_PATH?") from None
        _library.solve.argtypes = [{", ".join(types.values())}]
        _library.solve.restype = None
    return _library


def _shape(array):
    return tuple(array.__cuda_array_interface__["shape"])


def _address(array):
    return array.__cuda_array_interface__["data"][0]


def _check(name, array, shape, kind):
    about = array.__cuda_array_interface__
    if about["typestr"][1:] != kind:
        raise TypeError(f"{{name}} holds elements of the kind {{about['typestr'][1:]}}; the kernel takes {{kind}}")
    if tuple(about["shape"]) != shape:
        raise ValueError(f"{{name}} has the shape {{tuple(about['shape'])}}; it must be {{shape}}")
    expected = int(kind[1:])
    for extent, stride in zip(reversed(shape), reversed(about.get("strides") or ())):
        if extent != 1 and stride != expected:
            raise ValueError(f"{{name}} must be contiguous")
        expected *= extent


def _order(first, then):
    """Makes ``then`` go on after what ``first`` has been given so far."""
    driver = ctypes.CDLL("libcuda.so.1")
    event = ctypes.c_void_p()
    for status in (
        driver.cuEventCreate(ctypes.byref(event), 2),
        driver.cuEventRecord(event, first),
        driver.cuStreamWaitEvent(then, event, 0),
        driver.cuEventDestroy_v2(event),
    ):
        if status:
            raise RuntimeError(f"CUDA's driver answered with the error {{status}}")
{python.CEIL_DIV}

def {call.name}({taken}):
    """{call.pack.title}: writes {", ".join(identifier(each.name) for each in call.pack.outputs)}."""
{python.indented(checks)}
    scalars = {scalars}
    solve = _load().solve
    if stream not in (0, 1):
        _order(ctypes.c_void_p(stream), _LEGACY)
    solve({python.in_order(call, "_address({})")})
    if stream not in (0, 1):
        _order(_LEGACY, ctypes.c_void_p(stream))
'''


def _kind(element: Element) -> str:
    """Returns the kind and width of an element as array interfaces name them: ``f4``, ``i8``."""
    facts = element.facts
    if facts.narrow is not None:
        return f"u{facts.size_bytes}"
    kind = "b" if facts.ctypes_name == "c_bool" else "f" if facts.is_float else facts.numpy_name[0]
    return f"{kind}{facts.size_bytes}"
