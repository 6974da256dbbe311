"""A plain evaluation of PTX, one thread at a time, in Python integers: what the emulator and a GPU are compared with.

It shares no code with the emulator. Registers hold bits; ``integer``, ``floating`` and ``conversion`` say what each
instruction makes of them, ``machine`` runs the threads of a launch, ``cases`` lists every instruction, ``programs``
makes up whole kernels.
"""
