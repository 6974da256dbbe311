"""The version of the program."""

from __future__ import annotations

from importlib import metadata

VERSION = metadata.version("gpujudge")
