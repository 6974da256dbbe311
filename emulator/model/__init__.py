"""Models the time that a launch takes on a GPU, from the counts of its profile. README.md explains the model."""

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
