"""Programs that cannot run are refused with a reason and an exit code of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from emulator.standalone.command import main, parse
from emulator.standalone.program import ProgramError, find_program, read_program
from emulator.standalone.wire import Reader, WireError, Writer
from tests.builds import ROOT
from tests.emulated_programs import emulate


def _refusal(name: str | Path) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        find_program(str(name))
    return caught.value


def test_no_such_file(tmp_path: Path) -> None:
    run = emulate(tmp_path / "missing")

    assert run.exit_code == 127
    assert run.stderr == f"emulator: {tmp_path}/missing: no such file\n"


def test_a_program_that_is_not_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _refusal("vadd").exit_code == 127

    (tmp_path / "vadd").write_text("")
    assert "did you mean ./vadd?" in str(_refusal("vadd"))


def test_what_is_no_program(tmp_path: Path) -> None:
    plain, folder, source = tmp_path / "plain", tmp_path / "folder", tmp_path / "vadd.cu"
    plain.write_text("text")
    folder.mkdir()
    source.write_text("int main() {}")

    for path in (plain, folder, source):
        assert _refusal(path).exit_code == 126
    assert "nvcc -cudart shared" in str(_refusal(source))
    assert str(_refusal(source)).endswith("vadd.cu -o vadd")


@pytest.mark.usefixtures("library")
def test_what_the_system_cannot_execute(tmp_path: Path) -> None:
    garbage, script = tmp_path / "garbage", tmp_path / "script"
    garbage.write_bytes(b"\x7fELF\x02\x01 and no more")
    script.write_text("#!/no/such/interpreter\n")
    for path in (garbage, script):
        path.chmod(0o755)

    assert emulate(garbage).exit_code == 126
    run = emulate(script)
    assert run.exit_code == 126
    assert "names a program that is not there" in run.stderr


def test_a_runtime_of_another_version(tmp_path: Path) -> None:
    library, program = tmp_path / "libcudart.so.12", tmp_path / "program"
    source = tmp_path / "main.c"
    source.write_text("int called(void); int main(void) { return called(); }")
    other = tmp_path / "other.c"
    other.write_text("int called(void) { return 0; }")
    subprocess.run(["gcc", "-shared", "-Wl,-soname,libcudart.so.12", str(other), "-o", str(library)], check=True)
    subprocess.run(["gcc", str(source), str(library), "-o", str(program)], check=True)

    refusal = _refusal(program)

    assert refusal.exit_code == 125
    assert "needs libcudart.so.12; build it with nvcc 13" in str(refusal)


def test_without_a_compiler(tmp_path: Path) -> None:
    run = emulate(
        *("--cache", tmp_path, "/bin/true"), environment={"PATH": str(tmp_path), "CXX": "", "CUDA_HOME": str(tmp_path)}
    )

    assert run.exit_code == 125
    assert "its library is compiled first" in run.stderr
    assert "install g++" in run.stderr


@pytest.mark.usefixtures("library")
def test_a_program_without_cuda() -> None:
    run = emulate("sh", "-c", "echo out; exit 3")

    assert (run.exit_code, run.stdout) == (3, "out\n")
    assert run.stderr == "[emulator] the program did not use the CUDA runtime\n"


@pytest.mark.parametrize(
    "options",
    [
        *(("--memory", "3X"), ("--memory", "0"), ("--time-limit", "-1"), ("--time-limit", "nan"), ("--gpu", "voodoo2")),
        *(("--threads", "0"), ("--error-exitcode", "256"), ("--check=some",), ("--format=xml",), ()),
    ],
)
def test_mistakes_in_the_options(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    program = ("prog",) if options else ()
    with pytest.raises(SystemExit) as caught:
        parse([*options, *program])
    assert caught.value.code == 2
    assert capsys.readouterr().err


def test_what_follows_the_program_is_its_own() -> None:
    settings = parse(["--profile", "--memory", "2G", "prog", "--profile", "-x", "--", "--help"])

    assert settings.command == ("prog", "--profile", "-x", "--", "--help")
    assert (settings.profile, settings.memory_bytes) == (True, 2 << 30)


@pytest.mark.parametrize("size", [0, 5, 16, 60, 64, 200, 5000])
def test_a_truncated_file_is_no_elf_file_that_makes_sense(tmp_path: Path, size: int) -> None:
    whole = Path(sys.executable).resolve().read_bytes()
    path = tmp_path / "part"
    path.write_bytes(whole[:size])

    assert read_program(path) is None


def test_messages_that_are_cut_short() -> None:
    data = Writer().numbers("IQ", 1, 2).text("name").each([3, 4], lambda out, it: out.numbers("H", it)).bytes()
    reader = Reader(data)
    assert (reader.numbers("IQ"), reader.text(), reader.numbers("IHH")) == ((1, 2), b"name", (2, 3, 4))

    for size in range(len(data)):
        reader = Reader(data[:size])
        with pytest.raises(WireError):
            _ = (reader.numbers("IQ"), reader.text(), reader.numbers("IHH"))


def test_the_package_stands_alone_and_is_light() -> None:
    script = (
        "import sys\n"
        "import emulator, emulator.standalone.command as command\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'judge', 'store', 'web', 'workers', 'cli', 'llvmlite', 'numpy', 'pydantic'}))\n"
        "try:\n    command.main(['--help'])\nexcept SystemExit as end:\n    print(end.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stdout.startswith("[]\n")
    for option in ("--format", "--check", "--profile", "--gpu", "--memory", "--time-limit", "--schedule", "--cache"):
        assert option in done.stdout
    assert done.stdout.endswith("0\n")


def test_ctrl_c_before_the_program_runs_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("emulator.native.ensure", interrupted)
    assert main([sys.executable]) == 130
