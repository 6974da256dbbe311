"""Runs whole programs: ``python -m emulator ./program`` (see command.py).

The program is a process of its own without any Python. ``libcudart.so.13`` in it is the emulator's library
(native/report/session.h); this process answers its questions, and shows the report when it has ended.
"""
