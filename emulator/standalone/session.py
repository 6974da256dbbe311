"""Runs a program: its process, the server beside it, and the reports at its end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from emulator.model import Gpu
from emulator.runtime import library as native
from emulator.runtime.native_report import take_report
from emulator.runtime.report import Report
from emulator.standalone.answers import Answers
from emulator.standalone.compilers import place_compilers
from emulator.standalone.launch_times import LaunchTimes
from emulator.standalone.program import NOT_EXECUTABLE, ProgramError, read_program
from emulator.standalone.server import Server
from records import dataclass

# Of the path of a Unix socket, with room for "/socket".
_LONGEST_FOLDER = 96


@dataclass(frozen=True, slots=True)
class Outcome:
    """``exit_code`` as a shell has it (128 + the signal). ``signal`` is the name of the one that ended the program.

    ``reports``: of each process that used the emulated device, the program's own first.
    """

    exit_code: int
    signal: str | None
    reports: tuple[Report, ...]


def run_program(
    command: Sequence[str],
    program: Path,
    *,
    library: Path,
    settings: native.NativeSettings,
    cache: Path | None,
    gpu: Gpu | None = None,
) -> Outcome:
    """Runs it to its end, with this process's standard streams. Raises ``ProgramError`` when it cannot be started.

    ``gpu`` is the one whose modelled time is that between events, if the settings ask for it.
    """
    os.environ.pop("EMULATOR_SESSION", None)  # of a run around this one, which the library would join here
    with _folder() as folder:
        (folder / "settings").write_bytes(bytes(settings))
        times = LaunchTimes(folder, native.load(library), gpu) if gpu else None
        answers = Answers(cache, times)
        server = Server(folder / "socket", answers)
        server.start()
        try:
            status = _run(command, program, _environment(folder, library, program))
        finally:
            server.close()
            answers.close()
        reports = _reports(folder, native.load(library))
    own = [pair for pair in reports if pair[0] == status.process]
    others = [pair for pair in reports if pair[0] != status.process]
    code = status.code
    return Outcome(
        exit_code=code if code >= 0 else 128 - code,
        signal=_signal_name(-code) if code < 0 else None,
        reports=tuple(report for _, report in own + others),
    )


@dataclass(frozen=True, slots=True)
class _Status:
    process: int
    code: int  # as subprocess has it: negative for a signal


def _run(command: Sequence[str], program: Path, environment: dict[str, str]) -> _Status:
    try:
        process = subprocess.Popen(command, executable=program, env=environment)
    except OSError as error:
        hint = "" if program.read_bytes()[:2] != b"#!" else " (its first line names a program that is not there)"
        raise ProgramError(f"{program}: {error.strerror}{hint}", NOT_EXECUTABLE) from None
    with _signals_go_to(process):
        return _Status(process.pid, process.wait())


@contextmanager
def _signals_go_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Keeps this process alive at Ctrl-C, and passes requests to end on to the program.

    Ctrl-C reaches the program by itself, and the report is wanted all the same; what asks this process to end is meant
    for the program.
    """

    def forward(number: int, _: object) -> None:
        process.send_signal(number)

    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, forward)
    try:
        yield
    finally:
        for known, handler in before.items():
            signal.signal(known, handler)


@contextmanager
def _folder() -> Iterator[Path]:
    """For this user only."""
    wanted = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(
        prefix="emulator-",
        dir=wanted if len(wanted) < _LONGEST_FOLDER - 20 else "/tmp",  # noqa: S108 (a new folder, for this user only)
    ) as name:
        yield Path(name)


def _environment(folder: Path, library: Path, program: Path) -> dict[str, str]:
    environment = dict(os.environ)
    environment["EMULATOR_SESSION"] = str(folder)
    # Found by its name, before what the program's own RUNPATH and the system have.
    paths = [str(library.parent), str(_driver(folder, library)), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(path for path in paths if path)
    environment |= place_compilers(folder, environment)
    elf = read_program(program)
    if elf is not None and elf.has_old_rpath:
        loaded = [str(library), environment.get("LD_PRELOAD", "")]
        environment["LD_PRELOAD"] = os.pathsep.join(path for path in loaded if path)
    return environment


def _driver(folder: Path, library: Path) -> Path:
    """Returns a folder with the library under the driver's names: one library has both APIs."""
    driver = folder / "driver"
    driver.mkdir()
    for name in ("libcuda.so", "libcuda.so.1"):
        (driver / name).symlink_to(library.resolve())
    return driver


def _reports(folder: Path, library: ctypes.CDLL) -> list[tuple[int, Report]]:
    """By process, in the order in which the processes began to report."""
    journals = sorted(folder.glob("report-*"), key=lambda path: (path.stat().st_ctime_ns, path.name))
    reports = []
    for journal in journals:
        data = journal.read_bytes()
        library.emu_report_replay(data, len(data))
        report = take_report(library)
        reports.append((int(journal.name.removeprefix("report-")), report))
    return reports


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
