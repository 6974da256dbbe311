"""The steps of a compilation, taken from what nvcc says it would do, and the script that does them in the jail.

nvcc runs its host half and its device half one after the other, though neither needs the other until the host compiler
runs. Here they run at the same time (0.5 s instead of 0.8 s on two cores for a small kernel), and what ptxas has to
say of registers is asked for beside the host compiler. The steps are nvcc's own, from ``--dryrun``; when they are not
the ones known here (another release), nvcc runs as a whole, which is slower, tells no registers and is otherwise the
same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from judge.build.artifact import WITH_STREAMS

#: The exit codes of the script. Anything else is a compiler that crashed or a shell that could not.
HOST_FAILED, DEVICE_FAILED, COMPILE_FAILED, LINK_FAILED = 11, 12, 13, 14
FAILURES = (HOST_FAILED, DEVICE_FAILED, COMPILE_FAILED, LINK_FAILED)
#: What a symbol must be called to be looked at. The assembler allows any characters between quotes; a ``solve`` with
#: the types of a challenge needs no others.
_SYMBOL = "[A-Za-z_][A-Za-z0-9_]*"
#: What makes a stream that does not wait for the default one, or gets at a function by its name.
_OWN_STREAMS = (
    "StreamCreateWith|cuStreamCreate|CtxStreamCreate|cuCtxCreate|EntryPoint|GetProcAddress|ExportTable|dlv?sym|dlm?open"
)
#: A module's id makes the names of its internal device symbols unique; a library of one module needs no other.
_MODULE_ID = "_00000000_9_kernel_cu_00000000"


@dataclass(frozen=True, slots=True)
class Plan:
    """Shell commands. ``host`` and ``device`` may run at the same time; ``compile_`` needs both and makes ``kernel.o``.
    With ``whole`` set, that one command does it all."""

    environment: tuple[tuple[str, str], ...] = ()
    host: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    compile_: str = ""
    whole: str = ""


def whole_plan(nvcc: str, options: Sequence[str]) -> Plan:
    """nvcc as it is."""
    return Plan(whole=shlex.join([nvcc, *options, "-c", "kernel.cu", "-o", "kernel.o"]))


def parse_dryrun(text: str) -> Plan | None:
    """The plan in the output of ``nvcc --dryrun --keep -c kernel.cu -o kernel.o``; None when its form is not known."""
    environment: list[tuple[str, str]] = []
    commands: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#$ "):
            continue
        line = line[3:].strip()
        if match := re.match(r"^([A-Za-z_]+)=(.*)$", line):
            if match[1] in ("LD_LIBRARY_PATH", "PATH", "CICC_PATH", "NVVMIR_LIBRARY_DIR"):
                environment.append((match[1], match[2].strip()))
        else:
            commands.append(line)
    return _classified(tuple(environment), commands)


def _classified(environment: tuple[tuple[str, str], ...], commands: Sequence[str]) -> Plan | None:
    host: list[str] = []
    device: list[str] = []
    compile_: list[str] = []
    for command in commands:
        program = command.split(" ", 1)[0].strip('"').rsplit("/", 1)[-1]
        if program == "cudafe++":
            if "--gen_module_id_file" not in command:
                return None
            host.append(command.replace("--gen_module_id_file", ""))
        elif program == "ptxas":
            device.append(f"{command} >>resources.log 2>&1")
        elif program in ("cicc", "fatbinary"):
            device.append(command)
        elif program in ("gcc", "g++") and " -E " in command:
            (host if '"kernel.cpp4.ii"' in command else device).append(command)
        elif program in ("gcc", "g++") and " -c " in command and '"kernel.cudafe1.cpp"' in command:
            compile_.append(command)
        elif program != "rm":
            return None
    if len(host) != 2 or " -E " not in host[0] or len(compile_) != 1:
        return None
    if len(device) < 3 or "fatbinary" not in device[-1]:
        return None
    return Plan(environment, tuple(host), tuple(device), compile_[0])


@dataclass(frozen=True, slots=True)
class Files:
    """Descriptors that the script reads from and writes to."""

    source: int
    header: int
    library: int
    symbols: int
    definitions: int
    resources: int


@dataclass(frozen=True, slots=True)
class Recorder:
    """The descriptor of its source, and the functions that it stands before."""

    source: int
    wraps: tuple[str, ...]


def build_script(
    plan: Plan,
    files: Files,
    *,
    cuda: str,
    ptxas_arch: str | None,
    runtime: str,
    libraries: Sequence[str],
    alias: str = "_Z5solve.*",
    recorder: Recorder | None = None,
) -> str:
    """The POSIX shell script that makes the library, run in an empty folder of its own.

    It prints what the compilers print, and leaves on their descriptors the library, the names that ``kernel.o`` defines
    (mangled, then demangled), the user's part of the preprocessed source and what ptxas said. ``runtime`` are the
    linker's arguments for libcudart; ``ptxas_arch`` is None when ptxas runs as part of the plan; ``alias`` is the
    pattern of the symbol that becomes ``solve`` when none is called so; a ``recorder`` is compiled and linked in.

    What ptxas says is kept apart, since the other compilers print what the source tells them to. Symbols are the
    source's to choose as well: only plain ones get into a command.
    """
    lines = [
        "set -u",
        f"cat /proc/self/fd/{files.source} >kernel.cu && cat /proc/self/fd/{files.header} >solve.h || exit 1",
        *(f"export {key}={value}" for key, value in plan.environment),
    ]
    if plan.whole:
        lines += [
            f"{plan.whole} >host.log 2>&1 || {{ cat host.log; exit {HOST_FAILED}; }}",
            "cat host.log",
            ": >definitions",
            ": >resources.log",
        ]
        ptxas_arch = None
    else:
        lines += [
            f"printf %s {_MODULE_ID} >kernel.module_id",
            ": >resources.log",
            "{ " + " && ".join(plan.device) + "; } >device.log 2>&1 &",
            "device=$!",
            "{ " + " && ".join(plan.host) + "; } >host.log 2>&1 || "
            f"{{ kill $device 2>/dev/null; cat host.log; exit {HOST_FAILED}; }}",
            # The user's part: nvcc puts the runtime's headers first.
            """awk 'NR > 1 && /^# [0-9]+ "(kernel\\.cu|solve\\.h)"/ { on = 1 } on' kernel.cudafe1.cpp >definitions""",
            f"wait $device || {{ cat host.log device.log resources.log; exit {DEVICE_FAILED}; }}",
            "cat host.log device.log resources.log",
        ]
        if ptxas_arch is not None:
            # Its warnings cite the PTX, which the source can write.
            ptxas = f"{cuda}/bin/ptxas -v -w -arch={ptxas_arch} kernel.ptx -o /dev/null"
            lines += [f"{ptxas} >resources.log 2>&1 &", "ptxas=$!"]
        lines.append(f"{plan.compile_} || exit {COMPILE_FAILED}")
    lines += [
        f"nm -g --defined-only kernel.o | awk 'NF == 3 && $2 == \"T\" && $3 ~ /^{_SYMBOL}$/ {{ print $3 }}' >names",
        "c++filt <names >plain && paste names plain >symbols",
        *_link(runtime, libraries, alias, *_record(recorder, cuda)),
        # What ptxas refuses, a GPU would too: the emulator's users learn it here.
        *([f"wait $ptxas || {{ cat resources.log; exit {DEVICE_FAILED}; }}"] if ptxas_arch is not None else []),
        f"head -c 1000000 definitions >/proc/self/fd/{files.definitions}",
        f"head -c 1000000 symbols >/proc/self/fd/{files.symbols}",
        f"head -c 1000000 resources.log >/proc/self/fd/{files.resources}",
        f"if [ -f kernel.so ]; then cat kernel.so >/proc/self/fd/{files.library}; fi",
    ]
    return "\n".join(lines) + "\n"


def _record(recorder: Recorder | None, cuda: str) -> tuple[str, str]:
    """A command before the link, and more of its arguments."""
    if recorder is None:
        return ":", ""
    compile_ = f"g++ -std=c++17 -O2 -fPIC -I{cuda}/include -x c++ -c /proc/self/fd/{recorder.source} -o recorder.o"
    return compile_, " ".join(("recorder.o", *(f"-Wl,--wrap={name}" for name in recorder.wraps)))


def _link(runtime: str, libraries: Sequence[str], alias: str, before: str, more: str) -> list[str]:
    """Link with only ``solve`` exported. One with C++ linkage also gets the plain name.

    The driver's functions are the machine's own: against a stand-in made of just the names in use, since neither a
    machine that builds nor every toolkit has the library. Anything else undefined fails here rather than at load.
    An object may ask for optimisation at link time, with options of its own for a compiler: it gets none. What it asks
    for of streams is told by the library's name.
    """
    extra = " ".join(shlex.quote(f"-l{name}") for name in libraries)
    streams = f"nm -u kernel.o | grep -qE {shlex.quote(_OWN_STREAMS)} && name={WITH_STREAMS}"
    options = "-fno-lto -fno-use-linker-plugin -Wl,--version-script=export.map -Wl,-z,defs -Wl,-z,now -Wl,-z,relro"
    driver_names = "$2 ~ /^cu[A-Z][A-Za-z0-9_]*$/ && $2 !~ /^cuda/"
    return [
        "printf '{ global: solve; local: *; };' >export.map",
        "alias=",
        "if ! grep -qx solve names; then",
        f"  mangled=$(grep -m 1 -x -e {shlex.quote(alias)} names)",
        '  [ -n "$mangled" ] && alias="-Wl,--defsym=solve=$mangled"',
        "fi",
        "driver=",
        f'nm -u kernel.o | awk \'{driver_names} {{ print "void " $2 "(void) {{}}" }}\' >driver.c',
        "if [ -s driver.c ]; then",
        "  gcc -shared -fPIC -w -Wl,-soname,libcuda.so.1 driver.c -o libcuda.so && driver=./libcuda.so",
        "fi",
        f"name=kernel.so; {streams}",
        'if grep -qx solve names || [ -n "$alias" ]; then',
        f"  {{ {before} && g++ -shared -Wl,-soname,$name -o kernel.so kernel.o {more} {options}"
        f" $alias {runtime} $driver {extra}; }} >link.log 2>&1 || {{ cat link.log; exit {LINK_FAILED}; }}",
        "fi",
    ]
