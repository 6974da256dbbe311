"""Profiles of launches: counters that do not depend on the machine (README, "What a profile says")."""

from emulator.profile.counters import Counters, LaunchProfile, LineProfile

__all__ = ["Counters", "LaunchProfile", "LineProfile"]
