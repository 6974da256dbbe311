"""The jail: everything that a submission had a hand in runs inside it, the compiler included."""

from judge.sandbox.launch import JailExit, JailProcess, Output, launch, run_to_end
from judge.sandbox.policy import Bind, Limits, Policy, build_policy, run_policy

__all__ = [
    "Bind",
    "JailExit",
    "JailProcess",
    "Limits",
    "Output",
    "Policy",
    "build_policy",
    "launch",
    "run_policy",
    "run_to_end",
]
