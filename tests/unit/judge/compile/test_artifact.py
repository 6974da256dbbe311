from __future__ import annotations

import hashlib
import json
import struct

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
        call_lines=((4660, 7), (4672, 9)),
    )
    again = Artifact.from_bytes(artifact.to_bytes())
    assert again == artifact
    assert again.digest == hashlib.sha256(artifact.library).hexdigest()


@pytest.mark.parametrize(("library", "own_streams"), [(b"kernel.so", False), (b"kernel-with-streams.so", True)])
def test_an_artifact_of_the_former_format_still_loads(library: bytes, own_streams: bool) -> None:
    digest = hashlib.sha256(library).hexdigest()
    header = json.dumps({"digest": digest, "kind": "cuda", "arch": "sm_90", "extern_c": True}).encode()
    stored = b"gpujudge artifact 1\n" + struct.pack("<I", len(header)) + header + library
    assert Artifact.from_bytes(stored) == Artifact(library, Target("cuda", "sm_90"), own_streams=own_streams)


WHOLE = Artifact(b"library", Target("emulator", "compute_80")).to_bytes()


@pytest.mark.parametrize("damaged", [WHOLE[:-1], WHOLE[:-1] + b"?", b"x" + WHOLE, b"", WHOLE[:22], WHOLE[:40]])
def test_a_damaged_one_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"artifact|Expecting|JSON|Unterminated"):
        Artifact.from_bytes(damaged)
