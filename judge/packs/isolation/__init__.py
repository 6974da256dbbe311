"""Runs the code of packs (``reference.py``) in processes with limits on time, memory, files and network.

``calls.runs_pack_code`` marks the functions that run a pack's code: the judge calls them as usual, and they run in a
process of that pack. ``client`` starts and keeps those processes, ``server`` is the process that they are forked from
and ``fork_server`` what starts it, ``child`` is what runs in them, ``messages`` what goes between, and
``shared_array`` spares copying large arrays.

What a pack's code does wrong, exiting and looping included, becomes a PackError that names the pack. The limits
protect the judge from mistakes; that a pack decides the verdicts of its own challenge is what a pack is for.
"""
