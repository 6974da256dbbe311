"""Reads architectures as people name them: ``sm_90``, or a GPU such as ``h200``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.extras import need

if TYPE_CHECKING:
    from emulator.model import Gpu


def named_architecture(name: str) -> tuple[Gpu | None, str]:
    """Returns the modelled GPU, if there is one of that architecture, and the architecture. Raises UsageError."""
    model = need("emulator.model", "judge")
    gpus: list[Gpu] = [model.load_gpu(each) for each in model.gpu_names()]
    for gpu in gpus:
        if name.lower() == gpu.key:
            return gpu, "sm_" + gpu.compute_capability.replace(".", "")
    if not re.fullmatch(r"sm_\d{2,3}[af]?", name):
        known = ", ".join(gpu.key for gpu in gpus)
        raise UsageError(f"{name!r} is not an architecture.", hint=f"Say sm_80, sm_90 and the like, or a GPU: {known}.")
    number = re.sub(r"\D", "", name)
    # The newest of two GPUs of one architecture.
    fitting = [gpu for gpu in gpus if gpu.compute_capability.replace(".", "") == number]
    return (fitting[-1] if fitting else None), name
