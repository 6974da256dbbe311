"""The judge's own kernels around a timed call, in CUDA C++: ``build`` compiles them on the trusted side, ``abi`` says
how their arguments are laid out. The runner only loads what was compiled.
"""
