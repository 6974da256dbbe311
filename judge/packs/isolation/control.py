"""The commands that the judge sends to the process that packs' processes are forked from, and its answers."""

from __future__ import annotations

import struct

#: The module to run: nobody imports it.
SERVER = "judge.packs.isolation.server"
#: A command's letter and a process number.
COMMAND = struct.Struct("<ci")
#: A process number or an exit status.
ANSWER = struct.Struct("<i")
FORK, END = b"F", b"E"
