"""Conformance cases for Hopper's instructions: what is right is computed in Python, for the emulator and for a GPU."""
