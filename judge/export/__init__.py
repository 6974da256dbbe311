"""Writes a kernel as a library that other programs call: ``gpujudge export``."""
