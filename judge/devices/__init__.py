"""The devices behind one small protocol. ``base``, ``cuda`` and ``emulator`` run inside the runner, ``catalog``
outside.
"""
