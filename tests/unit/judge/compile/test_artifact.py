from __future__ import annotations

import hashlib

import pytest

from judge.compile.artifact import Artifact
from judge.compile.target import Target


@pytest.mark.parametrize("own_streams", [False, True])
def test_there_and_back(own_streams: bool) -> None:
    artifact = Artifact(
        b"\x7fELF" + bytes(range(256)),
        Target("cuda", "sm_90"),
        extern_c=False,
        own_streams=own_streams,
        registers=(("kernel", 32),),
        call_lines=((4660, 7), (4672, 9)),
        compiler_version="13.0",
        compiler_options=("-std=c++17",),
    )
    again = Artifact.from_bytes(artifact.to_bytes())
    assert again == artifact
    assert again.digest == hashlib.sha256(artifact.library).hexdigest()


WHOLE = Artifact(b"library", Target("emulator", "compute_80")).to_bytes()


@pytest.mark.parametrize("damaged", [WHOLE[:-1], WHOLE[:-1] + b"?", b"x" + WHOLE, b"", WHOLE[:22], WHOLE[:40]])
def test_a_damaged_one_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"artifact|Expecting|JSON|Unterminated"):
        Artifact.from_bytes(damaged)
