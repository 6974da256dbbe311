"""From a source to an artifact: source checks, nvcc in a jail, one shared library that exports only ``solve``."""

from judge.build.artifact import Artifact
from judge.build.nvcc import build_submission
from judge.build.target import Target

__all__ = ["Artifact", "Target", "build_submission"]
