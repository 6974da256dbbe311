"""Compiles a source to an artifact: source checks, nvcc in a jail, a library that exports only ``solve``."""
