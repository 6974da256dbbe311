"""What a build makes and a runner loads: the library, by digest, with what must be known of it."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, field

from judge.build.target import Target

_MAGIC = b"gpujudge artifact 1\n"
#: The name in a library whose source may make streams that do not wait for the default one.
WITH_STREAMS = "kernel-with-streams.so"


@dataclass(frozen=True, slots=True)
class Artifact:
    """``library`` is an ELF shared object that exports ``solve`` and nothing else. ``extern_c`` is False where the
    source had it with C++ linkage and the link gave it its plain name."""

    library: bytes
    target: Target
    extern_c: bool = True
    #: SHA-256 of the library, in hexadecimal.
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.library).hexdigest())

    def to_bytes(self) -> bytes:
        """One self-contained piece for the store and the cache."""
        about = {"digest": self.digest, "kind": self.target.kind, "arch": self.target.arch, "extern_c": self.extern_c}
        header = json.dumps(about, sort_keys=True).encode()
        return _MAGIC + struct.pack("<I", len(header)) + header + self.library

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """The artifact again. Raises ValueError when the data is not one, or not whole."""
        start = len(_MAGIC) + 4
        if not data.startswith(_MAGIC) or len(data) < start:
            raise ValueError("not an artifact")
        (length,) = struct.unpack_from("<I", data, len(_MAGIC))
        about = json.loads(data[start : start + length])
        artifact = Artifact(data[start + length :], Target(about["kind"], about["arch"]), about["extern_c"])
        if artifact.digest != about["digest"]:
            raise ValueError("the artifact is damaged: its digest is another")
        return artifact


def has_own_streams(library: bytes) -> bool:
    """Whether it may make streams that do not wait for the default one, or has the name that says so in it."""
    return WITH_STREAMS.encode() in library
