from __future__ import annotations

import hashlib

import pytest

from judge.build.artifact import Artifact
from judge.build.target import Target


def test_there_and_back() -> None:
    artifact = Artifact(b"\x7fELF" + bytes(range(256)), Target("cuda", "sm_90"), extern_c=False)
    again = Artifact.from_bytes(artifact.to_bytes())
    assert again == artifact
    assert again.digest == hashlib.sha256(artifact.library).hexdigest()


WHOLE = Artifact(b"library", Target.emulator()).to_bytes()


@pytest.mark.parametrize("damaged", [WHOLE[:-1], WHOLE[:-1] + b"?", b"x" + WHOLE, b"", WHOLE[:22], WHOLE[:40]])
def test_a_damaged_one_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"artifact|Expecting|JSON|Unterminated"):
        Artifact.from_bytes(damaged)


@pytest.mark.parametrize(
    ("target", "flag"),
    [
        (Target.emulator(), "arch=compute_80,code=compute_80"),
        (Target.cuda("8.6"), "arch=compute_86,code=[compute_86,sm_86]"),
        (Target.cuda("9.0"), "arch=compute_90a,code=[compute_90a,sm_90a]"),
        (Target.cuda("12.0"), "arch=compute_120a,code=[compute_120a,sm_120a]"),
    ],
)
def test_architectures(target: Target, flag: str) -> None:
    assert target.flags()[-1] == flag


def test_an_architecture_of_the_wrong_kind() -> None:
    with pytest.raises(ValueError, match="no architecture of cuda"):
        Target("cuda", "compute_80")
