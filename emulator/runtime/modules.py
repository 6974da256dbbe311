"""Reads a program's fat binary for its variables and kernels; turns errors into CUDA error codes."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from ctypes import c_uint32

from emulator.ptx import Module, PtxError, Unsupported, Variable
from emulator.ptx.device_runtime import add_kernel_handles
from emulator.ptx.layout import lay_out_parameters
from emulator.ptx.link import link
from emulator.runtime import fatbinary
from emulator.runtime.library import KernelInfo
from records import dataclass

ARCHITECTURE = 80

_INVALID_IMAGE = 200
_NO_IMAGE = 209
_INVALID_PTX = 218
_NOT_SUPPORTED = 801
_OUT_OF_MEMORY = 2

_MAX_THREADS = 1024
_MAX_CONSTANT_BYTES = 64 << 10
_LOCAL = re.compile(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+[\w$]+\[(\d+)\]")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")

_log = logging.getLogger(__name__)


class DeviceMemoryError(Exception):
    """There is no device memory for a variable."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """``code`` is a cudaError; ``unsupported`` names what the emulator does not do, if that is why."""

    code: int
    reason: str
    unsupported: str | None = None


def read_module(image: bytes, substitutes: Sequence[str] = ()) -> tuple[Module, bytes]:
    """Returns the linked PTX that the emulator runs, and a hash of its text.

    Each of ``substitutes`` is read in place of the text that has the same kernels. Raises ``FatBinaryError``,
    ``PtxError``, ``Unsupported``.
    """
    by_kernels = {tuple(_ENTRY.findall(text)): text for text in substitutes}
    texts = [by_kernels.get(tuple(_ENTRY.findall(text)), text) if by_kernels else text for text in _texts(image)]
    module = link(texts)
    add_kernel_handles(module, texts)
    constants = sum(v.size for v in defined_variables(module) if v.space == "const")
    if constants > _MAX_CONSTANT_BYTES:
        raise PtxError(f"its __constant__ variables take {constants} bytes, of {_MAX_CONSTANT_BYTES} that there are")
    return module, _digest(texts)


def digest_of(image: bytes) -> bytes:
    """Returns the hash that ``read_module`` returns. Raises ``FatBinaryError``."""
    return _digest(_texts(image))


def _texts(image: bytes) -> list[str]:
    chosen = [fatbinary.choose(fatbinary.ptx_images(part), ARCHITECTURE) for part in fatbinary.objects(image)]
    texts = [it.text for it in chosen if it is not None]  # the CUDA device runtime's library has none
    if not texts:
        raise fatbinary.NoPtxError("no PTX in the program: build it with -gencode arch=compute_80,code=compute_80")
    return texts


def _digest(texts: list[str]) -> bytes:
    return hashlib.sha256("\0".join(texts).encode()).digest()


def defined_variables(module: Module) -> list[Variable]:
    """Returns the variables that need device memory."""
    return [v for v in module.variables.values() if v.space in ("global", "const") and not v.external]


def describe_kernel(module: Module, name: str) -> KernelInfo:
    """Returns the facts about a kernel before it is compiled. Raises ``PtxError`` if there is no such kernel."""
    function = module.functions.get(name)
    if function is None or not function.is_entry:
        raise PtxError(f"no kernel {name} in this program")
    body = module.bodies.get(function.name, "")
    return KernelInfo(
        static_shared_bytes=_shared_bytes(module, body),
        local_bytes=sum(int(size) for _, size in _LOCAL.findall(body)),
        constant_bytes=sum(v.size for v in module.variables.values() if v.space == "const"),
        max_threads=min(function.max_threads or _MAX_THREADS, _MAX_THREADS),
        cluster=(c_uint32 * 3)(*(function.cluster or (0, 0, 0))),
        param_bytes=lay_out_parameters(function)[1],
    )


def refusal_of(error: Exception) -> Refusal:
    """Returns the error code and reason that the program gets for ``error``."""
    match error:
        case Unsupported():
            what = f"{error.what} ({error.file}:{error.line})" if error.line else error.what
            return Refusal(_NOT_SUPPORTED, what, what)
        case PtxError():
            return Refusal(_INVALID_PTX, str(error))
        case fatbinary.NoPtxError():
            return Refusal(_NO_IMAGE, str(error))
        case fatbinary.FatBinaryError():
            return Refusal(_INVALID_IMAGE, str(error))
        case DeviceMemoryError():
            return Refusal(_OUT_OF_MEMORY, str(error))
    _log.error("while answering the native library", exc_info=error)
    # Whoever wrote the program is not to blame.
    reason = f"a fault of the emulator itself: {type(error).__name__}: {error}"
    return Refusal(_NOT_SUPPORTED, reason, reason)


def _shared_bytes(module: Module, body: str) -> int:
    """Returns the kernel's static shared memory in bytes: its own variables and those of the module that it names."""
    end = 0
    names = set(_NAME.findall(body))
    for variable in module.variables.values():
        if variable.space == "shared" and variable.size and variable.name in names:
            end = -(-end // variable.align) * variable.align + variable.size
    for align, size in re.findall(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+[\w$]+\[(\d+)\]", body):
        end = -(-end // int(align)) * int(align) + int(size)
    return end
