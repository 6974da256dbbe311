from __future__ import annotations

import ast
import math
import tomllib
from pathlib import Path

import pytest

from judge.packs.collection.draft import draft_kernel, draft_pack
from judge.packs.collection.loader import load_pack
from judge.packs.form.schema import ChallengeModel
from judge.packs.pack import Pack
from judge.verify import verify_pack
from judge.verify.coverage import check_coverage

CHALLENGES = Path(__file__).resolve().parents[5] / "challenges"
SIGNATURES = {
    file.parent.name: tomllib.loads(file.read_text(encoding="utf-8"))["signature"]
    for file in sorted(CHALLENGES.glob("*/challenge.toml"))
}


def written(folder: Path, signature: str) -> Pack:
    folder.mkdir(parents=True)
    for name, text in draft_pack(folder.name, signature).items():
        (folder / name).write_text(text, encoding="utf-8")
    return load_pack(folder)


def test_every_signature_of_the_challenges_makes_valid_files() -> None:
    for slug, signature in SIGNATURES.items():
        if "int " in signature.replace("const int", ""):
            files = draft_pack(slug, signature)
            model = ChallengeModel.model_validate(tomllib.loads(files["challenge.toml"]))
            assert model.signature == " ".join(signature.split())
            ast.parse(files["reference.py"])


@pytest.mark.parametrize(
    "signature",
    [
        "void solve(const float* A, float* B, int N)",
        "void solve(const half* A, const half* B, half* C, int M, int N, int K)",
        'extern "C" void solve(int* data, size_t count);',
        "void solve(const float4* p, const bool* on, uint8_t* q, float eps, bool causal, int a, int b, int c, int d)",
    ],
)
def test_a_draft_loads_and_its_sizes_are_awkward(signature: str, tmp_path: Path) -> None:
    pack = written(tmp_path / "challenges" / "begun", signature)
    assert [finding.code for finding in check_coverage(pack)] == []
    assert {finding.code for finding in verify_pack(pack.directory).findings} == {"todo"}
    kernel = draft_kernel(pack)
    assert pack.prototype().rstrip(";") in kernel
    assert "// TODO" in kernel


def test_a_draft_sorts_the_arguments(tmp_path: Path) -> None:
    pack = written(tmp_path / "begun", "void solve(const int* x, int8_t* y, float* z, float alpha, int rows, int cols)")
    assert {each.name: each.role for each in pack.arguments if each.is_pointer} == {"x": "in", "y": "out", "z": "out"}
    assert [axis.name for axis in pack.axes] == ["rows", "cols"]
    assert [parameter.name for parameter in pack.parameters] == ["alpha"]
    kinds = {each.name: each.tolerance.kind for each in pack.outputs if each.tolerance}
    assert kinds == {"y": "exact", "z": "auto"}
    timed = pack.benchmarks_for("cuda")[0]
    assert float(pack.bench.bytes.evaluate(timed.variables)) >= 600e6
    assert math.prod(pack.benchmarks_for("emulator")[0].axes.values()) < 1e6


def test_what_is_changed_in_place_is_read_and_judged(tmp_path: Path) -> None:
    pack = written(tmp_path / "begun", "void solve(float* data, int N)")
    assert [each.role for each in pack.arguments] == ["inout", "scalar"]
