"""The pytest plugin: ``pytest --emulate`` builds and runs ``test_*.cu``, and the fixture ``emulate`` runs any program.

It lives in other projects' test processes, where the packages of gpujudge are not on the path: it imports nothing of
ours, and runs ``gpujudge emulate`` as a process of its own.
"""

from __future__ import annotations

import fnmatch
import functools
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

_COMMAND = (sys.executable, "-P", "-c", "import gpujudge; gpujudge.main()", "emulate")
_TARGET = ("-cudart", "shared", "-lineinfo", "-g", "-gencode", "arch=compute_80,code=compute_80")
#: Comments at the top of a test: flags for nvcc, and the arguments of a run. Several runs are several tests.
_BUILD, _RUN = "// nvcc:", "// run:"
_INI: tuple[tuple[Literal["args", "string", "linelist"], str, Any, str], ...] = (
    ("args", "emulate_files", ["test_*.cu"], "patterns of the names of CUDA tests"),
    ("string", "emulate_nvcc", "", "the compiler; else nvcc of PATH, CUDA_HOME or the Python environment"),
    ("args", "emulate_nvcc_flags", [], "further flags and sources for nvcc, from the root folder"),
    ("args", "emulate_options", [], "options of `gpujudge emulate`, such as --check=full"),
    ("linelist", "emulate_ignore", [], "kinds of findings that fail no test, such as leaked memory"),
)


class EmulationError(Exception):
    """A program does not build, does not run, or its run fails; the message is the failure's text."""


@dataclass(frozen=True)
class EmulatedRun:
    """One run of a program. ``problems`` are those that the settings do not ignore, as ``--format json`` has them."""

    exit_code: int
    stdout: str
    stderr: str
    problems: tuple[dict[str, Any], ...]
    report: dict[str, Any]

    def check(self) -> None:
        """Raises EmulationError for an exit code other than 0 and for problems."""
        if self.exit_code == 0 and not self.problems:
            return
        parts = [f"the program ended with exit code {self.exit_code}"] if self.exit_code else []
        parts += map(_shown, self.problems)
        raise EmulationError("\n".join(parts))


class Emulation:
    """Builds and runs programs with the settings of a project. The fixture ``emulate`` is one."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._nvcc, self._flags, self._options = (
            config.getini(name) for name in ("emulate_nvcc", "emulate_nvcc_flags", "emulate_options")
        )
        self._ignored = set(config.getini("emulate_ignore"))
        self._folder = tempfile.TemporaryDirectory(prefix="pytest-emulate-")
        self._numbers = itertools.count()

    def close(self) -> None:
        """Removes what was built."""
        self._folder.cleanup()

    def build(self, source: str | os.PathLike[str], *flags: str) -> Path:
        """Builds a program of a CUDA source and returns its path. Raises EmulationError with nvcc's output."""
        file = Path(source).resolve()
        program = Path(self._folder.name) / str(next(self._numbers)) / file.stem
        program.parent.mkdir()
        nvcc = self._nvcc or _find_nvcc()
        command = [nvcc, *_TARGET, str(file), *self._flags, *flags, *self._libraries(nvcc), "-o", str(program)]
        try:
            done = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
        except OSError as error:
            raise EmulationError(f"emulate_nvcc: {command[0]}: {error.strerror}") from None
        if done.returncode:
            raise EmulationError(f"{shlex.join(command)}\n\n{done.stdout}{done.stderr}")
        return program

    def _libraries(self, nvcc: str) -> list[str]:
        """Returns flags to link with a toolkit of Python packages, whose runtime the linker does not find."""
        folder = Path(nvcc).resolve().parent.parent / "lib"
        runtime = folder / "libcudart.so.13"
        if not runtime.exists() or (folder / "libcudart.so").exists():
            return []
        link = Path(self._folder.name) / "libcudart.so"
        if not link.exists():
            link.symlink_to(runtime)
        return [f"-L{self._folder.name}", f"-L{folder}"]

    def __call__(
        self, program: str | os.PathLike[str], *arguments: object, options: Sequence[str] = (), check: bool = True
    ) -> EmulatedRun:
        """Runs a program, or builds a ``.cu`` file and runs that. ``options`` are further ones of ``gpujudge emulate``.

        Raises EmulationError where ``check`` is true and the program fails or has problems, and always if it cannot
        be run.
        """
        path = os.fspath(self.build(program) if Path(program).suffix == ".cu" else program)
        file = Path(self._folder.name) / f"{next(self._numbers)}.json"
        command = [*_COMMAND, *self._options, *options, "--format", "json", "--output", str(file)]
        done = subprocess.run(
            [*command, path, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        stdout, stderr = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        if not file.exists():
            raise EmulationError(stderr.strip() or f"gpujudge emulate ended with exit code {done.returncode}")
        report = json.loads(file.read_text("utf-8"))
        problems = (problem for process in report["processes"] for problem in process["problems"])
        counted = tuple(problem for problem in problems if problem["kind"] not in self._ignored)
        run = EmulatedRun(done.returncode, stdout, stderr, counted, report)
        if check:
            run.check()
        return run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--emulate`` and the settings."""
    group = parser.getgroup("emulate", "CUDA on the CPU (gpujudge)")
    group.addoption("--emulate", action="store_true", help="build CUDA tests (test_*.cu) and run them on the CPU")
    for kind, name, default, text in _INI:
        parser.addini(name, text, type=kind, default=default)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects CUDA tests where they are asked for."""
    wanted = parent.config.getoption("emulate") and file_path.suffix == ".cu"
    if not wanted or not any(fnmatch.fnmatch(file_path.name, it) for it in parent.config.getini("emulate_files")):
        return None
    return CudaFile.from_parent(parent, path=file_path)


@pytest.fixture(scope="session")
def emulate(request: pytest.FixtureRequest) -> Iterator[Emulation]:
    """Runs CUDA programs on the CPU: ``emulate("build/test_sum", 1000).stdout``; fails on problems."""
    made = Emulation(request.config)
    yield made
    made.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Shows a failure of a program by its text alone: the frames of this file explain nothing."""
    report: Any = yield
    if call.excinfo and call.excinfo.errisinstance(EmulationError) and not isinstance(item, CudaTest):
        entry = call.excinfo.traceback[0]
        for candidate in call.excinfo.traceback:
            if str(candidate.path) != __file__:
                entry = candidate
        report.longrepr = f"{entry.path}:{entry.lineno + 1}\n{call.excinfo.value}"
    return report


class CudaFile(pytest.File):
    """A CUDA source with a ``main``: a test for each of its lines ``// run: ARGUMENTS``, or one without arguments."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yields the tests."""
        head = itertools.takewhile(lambda line: line.startswith("//"), self.path.read_text("utf-8").splitlines())
        comments = list(head)
        flags = [word for text in _after(_BUILD, comments) for word in shlex.split(text)]

        @functools.cache
        def built(emulation: Emulation) -> Path:
            return emulation.build(self.path, *flags)

        for arguments in _after(_RUN, comments) or [""]:
            yield CudaTest.from_parent(self, name=arguments or "main", program=built, arguments=shlex.split(arguments))


class CudaTest(pytest.Item):
    """One run of the program."""

    def __init__(self, *, program: Callable[[Emulation], Path], arguments: list[str], **others: Any) -> None:
        super().__init__(**others)
        self._program, self._arguments = program, arguments

    def runtest(self) -> None:
        """Raises EmulationError if the program does not build, fails or has problems."""
        emulation = _shared(self.session)
        run = emulation(self._program(emulation), *self._arguments, check=False)
        self.add_report_section("call", "stdout", run.stdout)
        self.add_report_section("call", "stderr", run.stderr)
        run.check()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns the text of the failure, without the frames of this file."""
        return str(excinfo.value) if isinstance(excinfo.value, EmulationError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns the file, line and name for the report."""
        return self.path, 0, f"{self.path.name}: {self.name}"


_KEY = pytest.StashKey[Emulation]()


def _shared(session: pytest.Session) -> Emulation:
    """Returns the one of the session's CUDA files."""
    if _KEY not in session.stash:
        session.stash[_KEY] = Emulation(session.config)
        session.config.add_cleanup(session.stash[_KEY].close)
    return session.stash[_KEY]


def _after(prefix: str, comments: Iterable[str]) -> list[str]:
    return [line.removeprefix(prefix).strip() for line in comments if line.startswith(prefix)]


def _shown(problem: dict[str, Any]) -> str:
    kind, message = problem["kind"], problem["message"]
    text = message if message.startswith(kind) else f"{kind}: {message}"
    times = f" ({problem['count']} times)" if problem["count"] > 1 else ""
    where = f"\n    in {problem['function']} ({problem['file']}:{problem['line']})" if problem["file"] else ""
    return f"{text}{times}{where}"


def _find_nvcc() -> str:
    folders = [Path(os.environ[name]) / "bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    folders += [folder / "bin" for folder in sorted(packages.glob("cu*"), reverse=True)]
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders), "/usr/local/cuda/bin"])
    found = shutil.which("nvcc", path=path)
    if found is None:
        raise EmulationError(
            "nvcc is not found: install the CUDA toolkit (or the extra: gpujudge[emulator,nvcc]), "
            "or name the compiler in emulate_nvcc"
        )
    return found
