"""What a launch did, in figures that do not depend on the machine: see "What a profile says" in the README."""

from emulator.profile.counters import Counters, LaunchProfile, LineProfile

__all__ = ["Counters", "LaunchProfile", "LineProfile"]
