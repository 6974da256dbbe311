"""Writes an accepted kernel as a library that other programs call: ``gpujudge export``."""
