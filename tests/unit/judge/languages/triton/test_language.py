from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.local_setup import pack_of
from cli.source import Source
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.languages.triton import building, language
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings
from tests.builds import ROOT

TRITON = BUILTIN_LANGUAGES.of("triton")
PACK = load_pack(ROOT / "challenges" / "vector-add").in_language("triton")
SETTINGS = JudgeSettings(Path("/nonexistent"))


def test_the_starter_takes_the_arguments_in_their_order() -> None:
    text = TRITON.starter(PACK)
    assert text.endswith("import triton\nimport triton.language as tl\n\n\ndef solve(A, B, C, N):\n    pass\n")
    compile(text, "starter", "exec")


def test_where_triton_is_missing_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_is_installed", lambda: False)
    assert "pip install 'gpujudge[triton]'" in TRITON.missing()
    with pytest.raises(InternalError) as refused:
        TRITON.build(b"", PACK, Target("emulator", "compute_80"), SETTINGS)
    assert "gpujudge[triton]" in (refused.value.remedy or "")
    with pytest.raises(UsageError, match="Triton is not installed here"):
        pack_of(Source(Path("add.py"), b"", "vector-add", "emulator", "triton"), None)


def test_a_triton_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_is_installed", lambda: True)
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "3.5.1")
    language._too_old.cache_clear()
    assert "Triton 3.5.1 is installed here, which is too old for the judge" in TRITON.missing()
    with pytest.raises(InternalError) as refused:
        TRITON.build(b"", PACK, Target("cuda", "sm_90"), SETTINGS)
    assert "pip install 'gpujudge[triton]'" in (refused.value.remedy or "")
    language._too_old.cache_clear()


@pytest.mark.parametrize("release", ["3.6.0", "3.9.0", "3.10.1+git", "4.0", "unknown"])
def test_any_later_triton_is_tried(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_is_installed", lambda: True)
    monkeypatch.setattr(importlib.metadata, "version", lambda _: release)
    language._too_old.cache_clear()
    assert TRITON.missing() == ""
    language._too_old.cache_clear()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"", "The source is empty."),
        (b"solve\0", "NUL byte"),
        (b"# \xff\n", "not UTF-8"),
        (b"x" * (300 << 10), "at most 262,144 are taken"),
        (b"import triton\n", "def solve(A, B, C, N):"),
        (b"__global__ void solve() {}", "This is CUDA C++"),
        (b"def solve(A, B, C, N): ...\n", None),
        (b'# include the bias\ndef solve(A, B, C, N):\n    "As __global__ void add() does."\n', None),
    ],
)
def test_what_is_wrong_before_anything_runs(source: bytes, problem: str | None) -> None:
    told = building.check_source(source, PACK, SETTINGS)
    assert told is None if problem is None else problem in str(told)


def _kernel(**changed: object) -> bytes:
    whole = {"key": "k", "name": "a", "ptx": "x", "warps": 4, "shared": 0, "scratch": 0, "align": 1, "arguments": []}
    return json.dumps({"kernels": [{**whole, **changed}]}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"[]", b"{", b"\xff", b'{"kernels": 3}', b'{"kernels": [{}]}', b'{"log": 3, "refused": true}',
        _kernel(name="a b"), _kernel(warps=-4), _kernel(warps=True), _kernel(ptx=""), _kernel(shared=1 << 40),
        _kernel(arguments=[[0, "; rm"]]), _kernel(arguments=[[0, "i32"]] * 300), b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_result_that_the_submission_forged_is_none(answer: bytes) -> None:
    assert "cannot be read" in building._read_answer(answer, keeps_stages=False).problem


def test_two_kernels_of_one_name_are_refused() -> None:
    one = '{"key": "k", "name": "a", "ptx": "x", "warps": 4, "shared": 0, "scratch": 0, "align": 1, "arguments": []}'
    alone, twice = (
        f'{{"kernels": [{", ".join(each)}], "notes": [], "tuned": []}}'.encode() for each in ([one], [one, one])
    )
    assert not building._read_answer(alone, keeps_stages=False).problem
    assert "one name" in building._read_answer(twice, keeps_stages=False).problem
    # Triton's own code was asked for, and it is not there.
    assert "cannot be read" in building._read_answer(alone, keeps_stages=True).problem


def test_a_log_has_a_headline() -> None:
    report = BuildReport(ok=False, wall_s=0.1, log="\nkernel.py:3: error: NameError\nmore")
    assert TRITON.headline(report) == "kernel.py:3: error: NameError"
