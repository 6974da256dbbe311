"""The artifact: what a build makes and a runner loads."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import field

from judge.compile.source_files import MAIN
from judge.compile.target import Target
from judge.wire.messages import NATIVE_LOADER
from records import dataclass

_MAGIC = b"gpujudge artifact 1\n"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One built submission. ``library`` is an ELF file.

    A native one is a shared object that exports ``solve`` and nothing else; ``loader`` knows what any other holds.
    """

    library: bytes
    target: Target
    #: False where the source had ``solve`` with C++ linkage, and the link gave it its plain name.
    extern_c: bool = True
    #: Whether the program may create streams that do not synchronise with the default one.
    own_streams: bool = False
    #: The registers of a thread of each kernel, by its mangled name, as ptxas reports them.
    registers: tuple[tuple[str, int], ...] = ()
    #: Where the library's calls begin, in bytes and ascending, each with the line of the source that makes it.
    call_lines: tuple[tuple[int, int], ...] = ()
    #: The version of the compiler that made it ("13.0"), and the options that decide what it makes.
    compiler_version: str = ""
    compiler_options: tuple[str, ...] = ()
    #: The name under which the source was compiled, by which findings name its lines.
    file_name: str = MAIN
    #: The module that loads it inside the jail (``judge.runner``).
    loader: str = NATIVE_LOADER
    #: SHA-256 of the library, in hexadecimal.
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.library).hexdigest())

    def to_bytes(self) -> bytes:
        """Returns one self-contained piece for the store and the cache."""
        about = {
            "digest": self.digest,
            "kind": self.target.kind,
            "arch": self.target.arch,
            "extern_c": self.extern_c,
            "own_streams": self.own_streams,
            "registers": dict(self.registers),
            "call_lines": self.call_lines,
            "compiler_version": self.compiler_version,
            "compiler_options": self.compiler_options,
            "file_name": self.file_name,
            "loader": self.loader,
        }
        header = json.dumps(about, sort_keys=True).encode()
        return _MAGIC + struct.pack("<I", len(header)) + header + self.library

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """Reads an artifact. Raises ValueError where the data is damaged."""
        magic, start = data[: len(_MAGIC)], len(_MAGIC) + 4
        if magic != _MAGIC or len(data) < start:
            raise ValueError("not an artifact")
        (length,) = struct.unpack_from("<I", data, len(_MAGIC))
        about = json.loads(data[start : start + length])
        artifact = Artifact(
            data[start + length :],
            Target(about["kind"], about["arch"]),
            about["extern_c"],
            about["own_streams"],
            registers=tuple(about["registers"].items()),
            call_lines=tuple((offset, line) for offset, line in about["call_lines"]),
            compiler_version=about["compiler_version"],
            compiler_options=tuple(about["compiler_options"]),
            file_name=about["file_name"],
            loader=about["loader"],
        )
        if artifact.digest != about["digest"]:
            raise ValueError("the artifact is damaged: its digest is another")
        return artifact
