"""Tells whether the toolchain itself works, after a build failed in a way that may be the machine's fault."""

from __future__ import annotations

import functools

from judge.compile.diagnostics import readable_log
from judge.compile.jailed_compiler import CompilerJob, run_compiler
from judge.compile.plan import LINK_FAILED
from judge.compile.target import Target
from judge.compile.toolchain import Toolchain
from judge.errors import InternalError
from judge.settings import JudgeSettings
from records import dataclass

_KNOWN_GOOD = b'__global__ void k(int* p) { *p = 1; }\nextern "C" void solve(int* p) { k<<<1, 1>>>(p); }\n'


@functools.lru_cache(maxsize=16)
def require_working(
    toolchain: Toolchain, target: Target, settings: JudgeSettings, libraries: tuple[str, ...] = ()
) -> None:
    """Raises InternalError where not even a plain kernel compiles and links with the libraries.

    A good answer is kept for the life of the process.
    """
    result = run_compiler(
        CompilerJob(_KNOWN_GOOD, _Plain(_PlainOptions(libraries=libraries)), target, toolchain, settings)
    )
    if libraries and result.output.exit.code == LINK_FAILED:
        said = readable_log(result.output.data, limit_bytes=2000)
        remedy = f"install {', '.join(libraries)} for {toolchain.root}"
        raise InternalError(f"a library of the challenge is not in the toolkit: {said}", remedy)
    if not result.output.exit.ok or not result.library:
        said = readable_log(result.output.data, limit_bytes=2000) or f"it ended with {result.output.exit}"
        raise InternalError(f"nvcc does not work on this machine: {said}", "gpujudge doctor")


@dataclass(frozen=True, slots=True)
class _PlainOptions:
    std: str = "c++17"
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plain:
    """The challenge of the known-good source."""

    build: _PlainOptions = _PlainOptions()
    signature_text: str = "void solve(int* p)"

    def header(self) -> str:
        return 'extern "C" void solve(int* p);\n'
