"""Real data of a pack: arrays in ``.npy`` files beside ``challenge.toml``, which names each with its SHA-256.

So the digest of ``challenge.toml`` covers their contents, too. Files are read without pickles.
"""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.packs.data.distributions import FromFile
from judge.packs.data.streams import Stream

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.npy")
#: Larger files would slow down each load of the pack, and are kept with each version of it that judged.
MAX_BYTES = 64 << 20


def open_data_file(path: Path, sha256: str) -> FromFile:
    """Returns the file's data. Raises ValueError, which says what is wrong, if it is not the one that is meant."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ValueError(f"{path.name} has {size >> 20} MiB; at most {MAX_BYTES >> 20} are read")
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing; put it beside challenge.toml") from None
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    if (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise ValueError(f"{path.name} has the SHA-256 {found}; write that here if it is the file that you mean")
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path.name} is not an array that numpy.save wrote: {error}") from None
    return FromFile(path, array.dtype.str, array.shape)


def rows_of_file(data: FromFile, shape: tuple[int, ...], stream: Stream) -> npt.NDArray[Any]:
    """Returns an array of this shape, which fits: the rows from one on that ``stream`` chooses.

    Along the other axes it is the beginning of what the file has.
    """
    array = np.load(data.path, mmap_mode=None if 0 in data.shape else "r", allow_pickle=False)
    spare = data.shape[0] - shape[0]
    first = int(stream.generator().integers(spare + 1))
    part: npt.NDArray[Any] = array[(slice(first, first + shape[0]), *(slice(extent) for extent in shape[1:]))]
    return np.ascontiguousarray(part)
