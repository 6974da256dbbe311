"""Nsight Compute, NVIDIA's profiler: finding it, running it and reading its reports."""
