"""Measures how well times repeat, tell kernels apart and agree with Nsight Compute; see ``__main__``."""
