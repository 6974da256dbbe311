"""Kernels that reach the peaks of a GPU (``peaks.cu``).

``counts`` says how much work each does, and ``measure`` is the process that times them. All of it is trusted: no
submission runs beside it.
"""
