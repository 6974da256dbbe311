"""The trusted side's native library, for what is slow in Python: making inputs, digesting and comparing outputs.

NumPy and hashlib define its results, to the bit, and do the work where there is no compiler. The runner, which shares
its process with an attacker, never loads it. ``heap`` bounds what the C library's allocator keeps.
"""
