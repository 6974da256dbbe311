"""Turns nvcc's own compilation steps into the script that runs in the jail.

nvcc runs its host half and its device half one after the other, though neither needs the other until the host compiler
runs. The script runs both at once (0.5 s instead of 0.8 s on two cores for a small kernel), and ptxas's report on
registers beside the host compiler. The steps are those that ``nvcc --dryrun`` prints. If another release prints steps
of an unknown form, nvcc runs as a whole: slower, without the report on registers, otherwise the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from judge.compile.narrowing import WIDE
from records import dataclass

#: The exit codes of the script. Any other means that a compiler crashed or the shell failed.
HOST_FAILED, DEVICE_FAILED, COMPILE_FAILED, LINK_FAILED = 11, 12, 13, 14
FAILURES = (HOST_FAILED, DEVICE_FAILED, COMPILE_FAILED, LINK_FAILED)
#: What the names of the driver's functions begin with that submissions have on the emulator (emulator/native/driver).
_EMULATED_DRIVER = "cuTensorMap"
#: The symbols that the script considers. The assembler allows any characters between quotes; a ``solve`` with the types
#: of a challenge needs none but these.
_SYMBOL = "[A-Za-z_][A-Za-z0-9_]*"
#: Functions that create a stream which does not synchronise with the default one, or find a function by its name.
_OWN_STREAMS = (
    "StreamCreateWith|cuStreamCreate|CtxStreamCreate|cuCtxCreate|EntryPoint|GetProcAddress|ExportTable|dlv?sym|dlm?open"
)
#: The wrapper that gcc's driver runs its steps with.
_NOTING = "noting.sh"
#: Accesses of host code whose lines are kept.
_MOST_ACCESSES = 5_000
#: Makes the names of a module's internal device symbols unique; a library of one module needs no other id.
_MODULE_ID = "_00000000_9_kernel_cu_00000000"


#: Of the report of ptxas: a few hundred bytes for each kernel, but for long names. A longer one is refused, not cut.
MAX_RESOURCES_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """Shell commands. ``host`` and ``device`` may run at the same time; ``compile_`` needs both and makes ``kernel.o``.

    If ``whole`` is set, that one command does everything.
    """

    environment: tuple[tuple[str, str], ...] = ()
    host: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    compile_: str = ""
    whole: str = ""


def whole_plan(nvcc: str, options: Sequence[str]) -> Plan:
    """Returns the plan that runs nvcc as a whole."""
    return Plan(whole=shlex.join([nvcc, *options, "-c", "kernel.cu", "-o", "kernel.o"]))


def parse_dryrun(text: str) -> Plan | None:
    """Returns the plan in the output of ``nvcc --dryrun --keep -c kernel.cu -o kernel.o``.

    Returns None where the steps have an unknown form.
    """
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
    """The descriptors that the script writes to, and the files of the source."""

    #: The command that makes them, and their names.
    placing: str
    names: tuple[str, ...]
    library: int
    symbols: int
    definitions: int
    resources: int
    #: Receives the exit statuses above 128, one a line, of commands that a signal ended.
    signals: int
    streams: int
    #: Receives a line for each call in the library: its offset in hexadecimal, and ``path:line`` of the source.
    call_lines: int


@dataclass(frozen=True, slots=True)
class Adapting:
    """The descriptor of an adapter's source in C, and the names of what it calls: in ``kernel.o`` and in it."""

    source: int
    symbol: str
    renamed: str


@dataclass(frozen=True, slots=True)
class Recorder:
    """The descriptor of the recorder's source, and the functions that the recorder wraps."""

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
    narrowed: Sequence[str] = (),
    adapting: Adapting | None = None,
) -> str:
    """Returns the POSIX shell script that makes the library, in an empty folder of its own.

    The script prints what the compilers print. To its descriptors it writes the library, the names that ``kernel.o``
    defines (mangled, then demangled), the user's part of the preprocessed source, ptxas's report, and a byte if the
    program may create streams of its own. For the emulator it writes the lines of the library's calls, too.

    ``runtime`` has the linker's arguments for libcudart. ``ptxas_arch`` is None where ptxas runs as part of the plan.
    ``alias`` is the pattern of the symbol that becomes ``solve`` if none has that name. A ``recorder`` is compiled and
    linked in. ``narrowed`` headers of CUB stand for all of it (judge/compile/narrowing.py). ``adapting`` puts a
    function before ``solve`` that converts what it is passed (judge/compile/adapter.py).

    ptxas's report has a file of its own, since the source can make the other compilers print anything. The source
    chooses symbols too, so only plain ones get into a command.
    """
    own = "|".join(map(_pattern, files.names))
    lines = [
        "set -u",
        *_note_signals(files.signals),
        f"{files.placing} || {{ note; exit 1; }}",
        *(f"export {key}={value}" for key, value in plan.environment),
        *_narrow(narrowed),
    ]
    if plan.whole:
        lines += [
            f"{plan.whole} >host.log 2>&1 || {{ note; cat host.log; exit {HOST_FAILED}; }}",
            "cat host.log || note",
            ": >definitions",
            ": >resources.log",
        ]
        ptxas_arch = None
    else:
        compile_ = plan.compile_
        lines += [
            f"printf %s {_MODULE_ID} >kernel.module_id",
            ": >resources.log",
            "{ " + " && ".join(map(_noting, plan.device)) + "; } >device.log 2>&1 &",
            "device=$!",
            "{ " + " && ".join(map(_noting, plan.host)) + "; } >host.log 2>&1 || "
            f"{{ note; kill $device 2>/dev/null; cat host.log; exit {HOST_FAILED}; }}",
            # nvcc puts the runtime's headers before the user's part.
            f"""awk 'NR > 1 && /^# [0-9]+ "({own}|solve[.]h)"/ {{ on = 1 }} on' kernel.cudafe1.cpp >definitions"""
            " || note",
            f"wait $device || {{ note; cat host.log device.log resources.log; exit {DEVICE_FAILED}; }}",
            "cat host.log device.log resources.log || note",
        ]
        if ptxas_arch is not None:
            # Warnings quote the PTX, which the source can forge: hence -w.
            ptxas = f"{cuda}/bin/ptxas -v -w -arch={ptxas_arch} kernel.ptx -o /dev/null"
            lines += [f"{ptxas} >resources.log 2>&1 &", "ptxas=$!"]
            # The least debug information that tells lines of host code, and no call that leaves its caller's frame.
            compile_ = f"{compile_} -g1 -fno-optimize-sibling-calls"
        lines.append(f"{_noting(compile_)} || {{ note; exit {COMPILE_FAILED}; }}")
    lines += [
        *_adapt(adapting),
        "nm -g --defined-only kernel.o >defined || note",
        f"awk 'NF == 3 && $2 == \"T\" && $3 ~ /^{_SYMBOL}$/ {{ print $3 }}' <defined >names || note",
        "{ c++filt <names >plain && paste names plain >symbols; } || note",
        *_link(runtime, libraries, alias, ptxas_arch is not None, *_record(recorder, cuda)),
        # A GPU would refuse what ptxas refuses, so the emulator's users learn it here.
        *([f"wait $ptxas || {{ note; cat resources.log; exit {DEVICE_FAILED}; }}"] if ptxas_arch is not None else []),
        f"{{ grep -qE {shlex.quote(_OWN_STREAMS)} undefined || note; }} && printf 1 >/proc/self/fd/{files.streams}",
        *(_call_lines(files.call_lines, own) if ptxas_arch is not None else []),
        f"head -c 1000000 definitions >/proc/self/fd/{files.definitions} || note",
        f"head -c 1000000 symbols >/proc/self/fd/{files.symbols} || note",
        f"head -c {MAX_RESOURCES_BYTES + 1} resources.log >/proc/self/fd/{files.resources} || note",
        f"if [ -f kernel.so ]; then cat kernel.so >/proc/self/fd/{files.library} || note; fi",
    ]
    return "\n".join(lines) + "\n"


def _narrow(headers: Sequence[str]) -> list[str]:
    """Returns the command that puts a header before the toolkit's (``-I.``) which includes these only."""
    if not headers:
        return []
    text = "".join(f"#include <{header}>\n" for header in headers)
    return [f"{{ mkdir -p {Path(WIDE).parent} && printf %s {shlex.quote(text)} >{WIDE}; }} || {{ note; exit 1; }}"]


def _pattern(name: str) -> str:
    """Returns the regular expression of awk for a file's name."""
    return re.sub(r"([.+])", r"[\1]", name).replace("/", "\\/")


def _call_lines(fd: int, own: str) -> list[str]:
    """Returns the commands that write the lines of calls and of accesses to memory.

    They also take the debug information away that gave these lines. An access to the stack, or by the instruction
    pointer, is not one that the device shares.

    What a launch consists of, down to the kernel's own line, is passed over. Nothing depends on these lines, so that a
    failure is not an error. ``own`` is the pattern of the source's files.
    """
    # A kernel's stub is called by the kernel's own name, wherever that was inlined.
    calls = f"""
        {{ sub(/:$/, "", $1) }}
        $2 ~ /^(call|bnd)/ {{ print "0x" $1, /__device_stub__/ ? 1 : 0; next }}
        /[(](,|%)/ && !/[(]%r[is]p/ && $2 !~ /^(lea|nop|cs|data16)/ && n < {_MOST_ACCESSES} {{ access[n++] = "0x" $1 }}
        END {{ for (i = 0; i < n; ++i) print access[i], 0 }}"""
    places = """
        NR == FNR { is_stub[NR] = $2; next }
        /^0x/ { at = substr($1, 3); skip = is_stub[++calls]; next }
        /^[^ ]*[.]stub[.]c:/ { skip = 1; next }
        at && /^([^ ]*\\/)?(OWN):[0-9]/ {
            if (skip) { skip = 0; next }
            print at, $1; at = ""
        }""".replace("OWN", own)
    return [
        "if [ -f kernel.so ]; then",
        f"  objdump -d --no-show-raw-insn kernel.so | awk {shlex.quote(calls)} | head -n 50000 >calls",
        f"  cut -d ' ' -f 1 calls | addr2line -ai -e kernel.so | awk {shlex.quote(places)} calls - >lines",
        f"  head -c 1000000 lines >/proc/self/fd/{fd}",
        "  strip -g kernel.so || note",
        "fi",
    ]


def _note_signals(fd: int) -> list[str]:
    """Returns the lines that define ``note``, called after a failed command, and the wrapper of gcc's steps.

    gcc's driver exits with 1 both for a wrong source and for a killed compiler, and the source can forge its messages.
    So each of the driver's steps runs under a shell that notes how the step ended, and then ends in the same way.
    """
    note = f"[ $s -le 128 ] || echo $s >>/proc/self/fd/{fd}"
    return [
        f"note() {{ s=$?; {note}; return $s; }}",
        f"printf '%s\\n' '\"$@\"' 's=$?' '{note}' '[ $s -le 128 ] || kill -$((s - 128)) $$' 'exit $s' >{_NOTING}",
    ]


def _noting(command: str) -> str:
    """Returns the command, with its steps run by the wrapper that notes signals if it is gcc's driver."""
    return re.sub(r'^("?(?:\S*/)?g(?:cc|\+\+)"?) ', rf"\1 -wrapper /bin/sh,./{_NOTING} ", command)


def _adapt(adapting: Adapting | None) -> list[str]:
    """Returns the command that gives ``kernel.o`` the adapter as its ``solve``, and its own one another name."""
    if adapting is None:
        return []
    rename = f"objcopy --redefine-sym {adapting.symbol}={adapting.renamed} kernel.o"
    compile_ = f"gcc -O2 -fPIC -x c -c /proc/self/fd/{adapting.source} -o adapter.o"
    join = "ld -r -o joined.o kernel.o adapter.o && mv joined.o kernel.o"
    return [f"{{ {rename} && {_noting(compile_)} && {join}; }} || {{ note; exit {COMPILE_FAILED}; }}"]


def _record(recorder: Recorder | None, cuda: str) -> tuple[str, str]:
    """Returns the command that compiles the recorder, and the linker's arguments for it."""
    if recorder is None:
        return ":", ""
    command = f"g++ -std=c++17 -O2 -fPIC -I{cuda}/include -x c++ -c /proc/self/fd/{recorder.source} -o recorder.o"
    return _noting(command), " ".join(("recorder.o", *(f"-Wl,--wrap={name}" for name in recorder.wraps)))


def _link(runtime: str, libraries: Sequence[str], alias: str, is_emulated: bool, before: str, more: str) -> list[str]:
    """Returns the commands that link with only ``solve`` exported, under its plain name also if it has C++ linkage.

    The driver's functions are the GPU machine's: they are linked against a stub with just the names in use, since
    neither a build machine nor every toolkit has the library. Those that the emulator's runtime library has are found
    there when the program is loaded. Anything else undefined fails here rather than at load.
    An object may ask for link-time optimisation, with compiler options of its own: the link refuses that.
    """
    extra = " ".join(shlex.quote(f"-l{name}") for name in libraries)
    options = "-fno-lto -fno-use-linker-plugin -Wl,--version-script=export.map -Wl,-z,defs -Wl,-z,now -Wl,-z,relro"
    driver_names = "$2 ~ /^cu[A-Z][A-Za-z0-9_]*$/ && $2 !~ /^cuda/"
    if is_emulated:
        driver_names += f" && $2 !~ /^{_EMULATED_DRIVER}/"
    return [
        *([f"objcopy --wildcard --weaken-symbol={_EMULATED_DRIVER}'*' kernel.o || note"] * is_emulated),
        "printf '{ global: solve; local: *; };' >export.map",
        "alias=",
        "if ! { grep -qx solve names || note; }; then",
        f"  mangled=$(grep -m 1 -x -e {shlex.quote(alias)} names) || note",
        '  [ -n "$mangled" ] && alias="-Wl,--defsym=solve=$mangled"',
        "fi",
        "driver=",
        "nm -u kernel.o >undefined || note",
        f'awk \'{driver_names} {{ print "void " $2 "(void) {{}}" }}\' <undefined >driver.c || note',
        "if [ -s driver.c ]; then",
        f"  {_noting('gcc -shared')} -fPIC -w -Wl,-soname,libcuda.so.1 driver.c -o libcuda.so"
        " && driver=./libcuda.so || note",
        "fi",
        'if { grep -qx solve names || note; } || [ -n "$alias" ]; then',
        f"  {{ {before} && {_noting('g++ -shared')} -Wl,-soname,kernel.so -o kernel.so kernel.o {more} {options}"
        f" $alias {runtime} $driver {extra}; }} >link.log 2>&1 || {{ note; cat link.log; exit {LINK_FAILED}; }}",
        "fi",
    ]
