"""The trusted side's own machine code for what takes long in Python: making inputs, and digests of outputs.

NumPy and hashlib define what comes out, to the bit, and do the work where there is no compiler. The runner, which
shares a process with an attacker, never loads it.
"""
