"""Kernels of our own in the styles that people write them, poor to good, that run on the emulator and on a GPU.

A folder is a topic: its ``__init__`` says what ``solve`` computes (``SMALL`` and ``MODEL`` sizes, and
``case(**size)``, which makes the arguments and what must come out), and each ``.cu`` in it is one way to write that
``solve``. All variants of a topic have the same arguments and must give the same answer.

``SMALL`` is for correctness and has awkward numbers. ``MODEL`` is for time: the same launches are timed on a GPU and
profiled on the emulator, so that the two can be compared.

The host's side (``device``, ``harness``) is the same for both devices; which one it is depends on the ``libcudart``
that the process has loaded.
"""
