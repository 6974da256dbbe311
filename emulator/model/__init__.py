"""Modelled time: what the counts of a launch's profile come to on a GPU that is not here. See README.md beside this."""

from emulator.model.gpu import Gpu, gpu_names, load_gpu
from emulator.model.occupancy import Occupancy, occupancy_of
from emulator.model.program import (
    MODEL_VERSION,
    KernelTime,
    LaunchGroup,
    LineTime,
    ProgramTime,
    group_launches,
    program_time,
)
from emulator.model.time import ModelledTime, modelled_time

__all__ = [
    "MODEL_VERSION",
    "Gpu",
    "KernelTime",
    "LaunchGroup",
    "LineTime",
    "ModelledTime",
    "Occupancy",
    "ProgramTime",
    "gpu_names",
    "group_launches",
    "load_gpu",
    "modelled_time",
    "occupancy_of",
    "program_time",
]
