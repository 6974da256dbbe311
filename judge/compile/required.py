"""The architecture that a kernel needs, as its author says in the file.

    // gpujudge: arch=sm_90a

``sm_90a`` (or ``sm_100f``) asks for that GPU's own instructions, which no other has; ``sm_90`` asks for that GPU or a
later one.
"""

from __future__ import annotations

import re

from judge.compile.architecture import is_ptx_alone, needs_hopper, specific_architecture
from judge.compile.target import Target

#: Among the first lines of the file, beside what else the line says (``cli.source``).
_WITHIN_BYTES = 4096
_LINE = re.compile(rb"^[ \t]*//[ \t]*gpujudge:(?P<words>[^\r\n]*)", re.MULTILINE)
_NAME = re.compile(r"sm_(?P<number>\d{2,3})(?P<own>[af]?)")


def required_architecture(source: bytes) -> str | None:
    """Returns the architecture that the file names, None if it names none. The name may be invalid."""
    for line in _LINE.finditer(source[:_WITHIN_BYTES]):
        for word in line["words"].split():
            if word.startswith(b"arch="):
                return word.removeprefix(b"arch=").decode("utf-8", "replace")
    return None


def architecture_for(source: bytes, target: Target) -> str:
    """Returns the architecture of a source: one with its own instructions only if the source has or asks for them."""
    asks = unmet(source, target.arch) is not None and unmet(source, target.specific or target.arch) is None
    return target.specific if target.specific and (needs_hopper(source) or asks) else target.arch


def unmet(source: bytes, arch: str) -> str | None:
    """Returns why the source is not compiled for ``arch`` (``compute_80``, ``sm_90``), in words for its author.

    None where it names no architecture, or one whose instructions ``arch`` has.
    """
    required = required_architecture(source)
    if required is None:
        return None
    match = _NAME.fullmatch(required)
    if match is None:
        return f"The line `// gpujudge: arch={required}` names no architecture: write one such as sm_90 or sm_90a."
    number = int(re.sub(r"\D", "", arch))
    if match["own"]:
        own = arch if is_ptx_alone(arch) else specific_architecture(arch)
        met = number == int(match["number"]) and not own[-1].isdigit()
    else:
        met = number >= int(match["number"])
    if met:
        return None
    place = "the emulator runs code for" if is_ptx_alone(arch) else "this GPU is"
    return (
        f"This kernel needs {required}, as its line `// gpujudge: arch={required}` says, and {place} "
        f"{arch.replace('compute_', 'sm_')}. Choose a GPU of that architecture, or take out the line and what needs it."
    )
