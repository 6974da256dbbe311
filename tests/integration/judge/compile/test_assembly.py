"""A source becomes PTX and machine code by the real compilers, in the jail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.main import main
from judge.compile.assembly import Assembly, NoChallenge, NotAssembled, assemble
from judge.errors import InternalError
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.nvcc, pytest.mark.jail]

SOURCE = """__global__ void __launch_bounds__(128) scale(float* a, float factor, int n) {
    __shared__ float copy[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    copy[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n)
        a[i] = factor * copy[127 - threadIdx.x];
}
"""


def test_each_instruction_has_its_line_and_each_kernel_its_resources(tmp_path: Path) -> None:
    made = assemble(SOURCE.encode(), NoChallenge(), "sm_90", JudgeSettings(data_dir=tmp_path))
    assert isinstance(made, Assembly)
    assert made.architecture == "sm_90a"
    (scale,) = made.functions
    assert (scale.name, scale.is_kernel, scale.block_threads) == ("scale", True, 128)
    assert scale.resources is not None
    assert scale.resources.shared_bytes == 512
    assert scale.resources.registers > 0
    barriers = [each for each in scale.sass if each.text.startswith("BAR.SYNC")]
    assert [each.line for each in barriers] == [5]
    assert [each.line for each in scale.ptx if each.text.startswith("mul.f32")] == [7]
    assert {each.line for each in scale.sass if "STG" in each.text} == {7}


def test_a_source_that_does_not_compile_says_why_and_a_wrong_architecture_too(tmp_path: Path) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    made = assemble(b"__global__ void k() { x; }", NoChallenge(), "sm_80", settings)
    assert isinstance(made, NotAssembled)
    assert 'kernel.cu(1): error: identifier "x" is undefined' in made.log
    with pytest.raises(InternalError, match="no architecture 'sm_90; rm'"):
        assemble(SOURCE.encode(), NoChallenge(), "sm_90; rm", settings)


def test_the_command_prints_instructions_under_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scale.cu"
    file.write_text(SOURCE)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["gpujudge", "asm", str(file), "--data-dir", str(tmp_path), *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out + captured.err

    code, text = run("--arch", "a100", "--line", "5-6")
    assert code == 0
    assert "scale  (sm_80)" in text
    assert "512 bytes of shared memory a block, nothing spilled" in text
    assert "NVIDIA A100 holds 64 warps of it (100%) in blocks of 128, limited by threads" in text
    assert "    5 |     __syncthreads();\n        BAR.SYNC" in text
    assert "    7 | " not in text
    code, text = run("--json")
    assert code == 0
    assert json.loads(text)["functions"][0]["block_threads"] == 128
    code, text = run("--kernel", "other")
    assert (code, "There are: scale." in text) == (2, True)
    code, text = run("--arch", "sm_35")
    assert (code, "Unsupported gpu architecture" in text) == (2, True)
    assert run("--arch", "rtx")[0] == run("--line", "9-3")[0] == 2
