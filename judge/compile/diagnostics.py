"""Makes the output of compilers readable for the submission's author.

The log has lines such as ``kernel.cu(3): error: ...`` with their carets, and no colours, no folders of this machine, no
repetitions; its length is limited.
"""

from __future__ import annotations

import re
from typing import Any

from judge.compile.removed_names import advice
from judge.compile.source_files import SUFFIXES
from judge.judgement import KernelResources

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+\x07|.)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
#: Lines of nvcc's driver and of ptxas that do not concern the author.
_CHATTER = re.compile(
    r"^(?:ptxas info .*|[ \t]*+\d++ bytes stack frame, .*|nvcc (?:warning|info) *:.*incompatible.*|"
    r"Remark: The warnings can be suppressed with .*|\d+ errors? detected in the compilation of .*|"
    r"collect2: error: ld returned \d+ exit status|compilation terminated\.|"
    r"Please submit a full bug report.*|See <\S*> for instructions\.)$",
    re.MULTILINE,
)
#: The same line again and again, as an include that includes itself gives.
_REPEATED = re.compile(r"^(.++)(?:\n\1$){3,}+", re.MULTILINE)
_ENTRY = re.compile(r"^ptxas info\s*: Compiling entry function '(?P<kernel>[^']+)' for '[^']+'")
_STACK = re.compile(
    r"^\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"^ptxas info\s*: Used (?P<registers>\d+) registers")
_COMPILERS_OWN = re.compile(r"\b(?:error|warning|note|remark)\b|^In file included|^kernel\.cu")
_ERROR = re.compile(r"\berror\b\s*+(?:#[\w-]{1,40}+)?:", re.IGNORECASE)
_KILLED = re.compile(
    rb"^(?:nvcc error\s{0,4}: '[^'\n]{1,80}' died due to signal (?:1|2|9|15)\b|"
    rb"collect2: fatal error: \w{1,20} terminated with signal (?:1|2|9|15)\b|"
    rb"(?:gcc|g\+\+): fatal error: (?:Killed|Terminated|Hangup|Interrupt) signal terminated program)",
    re.MULTILINE,
)
_SHARED = re.compile(r"(?<!\d)(\d{1,9}) bytes smem")
_PARAGRAPHS = re.compile(r"\n[ \t]*+(?:\n[ \t]*+)++")
_EMPTY_LINES = re.compile(r"\n{3,}+")
_IN_JAIL = re.compile(rf"(?<![\w./-])/tmp/(?=[\w.+/-]{{1,500}}?(?:{'|'.join(map(re.escape, SUFFIXES))})\b)")
#: A folder that a header's include left again: ``inc/../tile.cuh``.
_UP_AND_DOWN = re.compile(r"(?<![\w./+-])\w[\w.+-]{0,99}/\.\./")
_LAUNCHED_BY_A_KERNEL = "kernel launch from __device__ or __global__ functions requires separate compilation mode"
_NO_LAUNCHES = (
    "Kernels of a submission cannot launch kernels: the judge compiles without -rdc=true. Launch them from solve()."
)
_CPP20 = re.compile(
    r'error: identifier "(?:concept|requires)" is undefined|'
    r"error: this declaration has no storage class or type specifier\n[ \t]++(?:consteval|constinit)\b|"
    r"error: an operator name must be declared as a function\n.{0,200}?\boperator ?<=>"
)
_NO_CPP20 = (
    "Concepts, consteval, constinit and <=> are C++20: the judge compiles C++17 unless the statement says otherwise."
)
_LINKER = re.compile(r"/usr/(?:bin/ld(?:\.\w++)?+|lib/[\w./+-]*+)")


def readable_log(raw: bytes, *, limit_bytes: int, hidden_folders: tuple[str, ...] = (), truncated: bool = False) -> str:
    """Returns the log for the user, without the ``hidden_folders`` in front of file names."""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", _ANSI.sub("", text))
    text = re.sub(r"(?<![\w/])/cuda/(?:bin/\.\./)?(?:targets/[\w-]+/)?(?:include/)?", "", text)
    for folder in hidden_folders:
        text = text.replace(folder.rstrip("/") + "/", "")
    text = re.sub(r"(?<![\w/])/usr/(?:lib/gcc/[\w.-]{1,40}/[\w.]{1,20}/include/|include/)", "", text)
    text = _LINKER.sub(_without_folder, text)
    text = re.sub(r"\bkernel\.(?:cudafe1\.cpp|cudafe1\.stub\.c|cpp1\.ii|cpp4\.ii|o|ptx)\b(?=[:(])", "kernel.cu", text)
    text = re.sub(r"(?<![\w-])tmpxft_[\w-]++\.cudafe1\.\w++|/tmp/cc\w++\.[os]", "kernel.cu", text)
    # The linker names a source by its folder in the jail, where there are lines of the host's code.
    text = _IN_JAIL.sub("", text)
    while (shorter := _UP_AND_DOWN.sub("", text)) != text:
        text = shorter
    text = re.sub(r"^ptxas (?:kernel\.ptx|/tmp/\S+\.ptx|application)\b", "ptxas: kernel.ptx", text, flags=re.MULTILINE)
    text = _EMPTY_LINES.sub("\n\n", _CHATTER.sub("", text))
    text = _REPEATED.sub(lambda match: f"{match[1]}\n[... {match[0].count(chr(10))} more such lines]", text)
    paragraphs = [part.strip("\n") for part in _PARAGRAPHS.split(text)]
    unique = list(dict.fromkeys(part.rstrip() for part in paragraphs if part.strip()))
    if _LAUNCHED_BY_A_KERNEL in text:
        unique.insert(0, _NO_LAUNCHES)
    if _CPP20.search(text):
        unique.insert(0, _NO_CPP20)
    if removed := advice(text):
        unique.insert(0, removed)
    return capped("\n\n".join(unique), limit_bytes, truncated=truncated)


def _without_folder(path: re.Match[str]) -> str:
    """Returns ``ld`` for the linker's path where the linker reports something; other paths unchanged."""
    if path.string.startswith(":", path.end()) and (path[0].startswith("/usr/bin/") or path[0].endswith("/ld")):
        return "ld"
    return path[0]


def headline(log: str) -> str:
    """Returns the line of a readable log that says what is wrong: the judge's own, or the first error."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if not lines:
        return ""
    if not _COMPILERS_OWN.search(lines[0]):
        return lines[0].removesuffix(" It must define:").removesuffix(" The source must define:")
    return next((line for line in lines if _ERROR.search(line)), lines[0])


def exhausted(log: str, *, memory_bytes: int, file_bytes: int) -> str | None:
    """Returns the resource that the compiler ran out of, by its own words, where a limit ended it; else None."""
    if re.search(r"File size limit exceeded|File too large|No space left on device", log):
        return f"The compiler wrote more than {file_bytes >> 20} MiB."
    if re.search(r"out of memory allocating|virtual memory exhausted|std::bad_alloc|cannot allocate memory", log, re.I):
        return f"The compiler needed more than {memory_bytes >> 20} MiB of memory."
    if "CPU time limit exceeded" in log:
        return "The compiler used up its CPU time."
    return None


def says_killed(raw: bytes) -> bool:
    """Returns whether a compiler's driver says that something it started was killed."""
    return _KILLED.search(raw) is not None


def capped(text: str, limit_bytes: int, *, truncated: bool = False) -> str:
    """Returns at most ``limit_bytes`` bytes of UTF-8, cut at a line, with a note that the rest is left out."""
    data = text.encode("utf-8")
    if len(data) <= limit_bytes and not truncated:
        return text
    note = "\n[... the rest of the compiler's output is left out]"
    kept = data[: max(0, limit_bytes - len(note))].decode("utf-8", "ignore")
    return kept.rsplit("\n", 1)[0] + note


def parse_resources(text: str) -> tuple[KernelResources, ...]:
    """Returns the report of ``ptxas -v`` for each kernel. Kernel names are as in the PTX."""
    kernels: list[dict[str, Any]] = []
    current: dict[str, Any] | None = None
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            current = {"kernel": match["kernel"]}
            kernels.append(current)
        elif current is not None and (match := _STACK.match(line)):
            current.update(
                stack_bytes=int(match["stack"]),
                spill_stores_bytes=int(match["stores"]),
                spill_loads_bytes=int(match["loads"]),
            )
        elif current is not None and (match := _USED.match(line)):
            shared = _SHARED.search(line)
            current.update(registers=int(match["registers"]), shared_bytes=int(shared[1]) if shared else 0)
            current = None
    return tuple(KernelResources(**kernel) for kernel in kernels)
