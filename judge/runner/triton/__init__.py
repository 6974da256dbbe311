"""The part of a Triton submission that runs inside the jail.

Thin stand-ins for Triton and PyTorch, the pass that finds out which kernels ``solve`` launches, and the launcher of
kernels that were compiled ahead. Triton itself is imported by ``build`` alone, in the compiler's jail: a runner has
neither it nor its compiler.
"""
