"""Kernels that reach what a GPU can do (``peaks.cu``), how much work each does (``counts``), and the process that times
them (``measure``). All of it is trusted: no submission is anywhere near.
"""
