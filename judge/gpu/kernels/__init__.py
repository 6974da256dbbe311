"""The judge's own kernels around a timed call, in CUDA C++.

``build`` compiles them on the trusted side; the runner only loads the result.
"""
