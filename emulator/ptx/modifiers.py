"""The modifiers that each instruction is known to have.

An instruction with another one means something that nobody here has thought of: it is refused by name rather than
done without it. Types, shapes of matrices and the state spaces are checked where they are used.
"""

from __future__ import annotations

import re

from emulator.ptx.errors import Unsupported
from emulator.ptx.ir import Instruction
from emulator.ptx.types import TYPES

_ROUNDINGS = "rn rz rm rp"
_SPACES = "global shared shared::cta local const param generic"
_SCOPES = "cta cluster gpu sys"
_STRONG = f"volatile weak relaxed acquire release acq_rel mmio {_SCOPES}"
_CACHES = "ca cg cs lu cv wb wt nc"
_COMPARISONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
_LAYOUTS = "row col sync aligned"
_TABLE = {
    "add sub": f"{_ROUNDINGS} ftz sat cc",
    "addc subc": "cc",
    "mul": f"{_ROUNDINGS} ftz sat hi lo wide",
    "mad": f"{_ROUNDINGS} ftz sat hi lo wide cc",
    "madc": "hi lo cc",
    "mul24 mad24": "hi lo sat",
    "fma": f"{_ROUNDINGS} ftz sat relu",
    "div": f"{_ROUNDINGS} ftz approx full",
    "rcp sqrt": f"{_ROUNDINGS} ftz approx",
    "rsqrt sin cos lg2 ex2 tanh": "ftz approx",
    "abs neg": "ftz",
    "min max": "ftz NaN relu",
    "rem sad and or xor not cnot shl shr popc clz brev bfe bfi copysign selp fns": "",
    "bfind": "shiftamt",
    "bmsk szext": "clamp wrap",
    "lop3": "and or xor",
    "shf": "l r clamp wrap",
    "prmt": "f4e b4e rc8 ecl ecr rc16",
    "dp4a": "",
    "dp2a": "lo hi",
    "vabsdiff2 vabsdiff4": "add",
    "testp": "finite infinite number notanumber normal subnormal",
    "set setp": f"{_COMPARISONS} and or xor ftz",
    "slct": "ftz",
    "cvt": f"{_ROUNDINGS} rni rzi rmi rpi rna ftz sat satfinite relu pack",
    "mov": "",
    "cvta": f"{_SPACES} shared::cluster param::entry to",
    "isspacep": f"{_SPACES} shared::cluster param::entry",
    "ld ldu": f"{_SPACES} {_STRONG} {_CACHES} v2 v4 v8 unified",
    "st": f"{_SPACES} {_STRONG} {_CACHES} v2 v4 v8",
    "atom red": f"{_SPACES} {_STRONG} add min max exch cas and or xor inc dec noftz",
    "cp": f"async {_SPACES} ca cg commit_group wait_group wait_all mbarrier arrive noinc",
    "mbarrier": f"init inval arrive arrive_drop test_wait try_wait pending_count parity noComplete {_SPACES} {_STRONG}",
    "shfl": "up down bfly idx sync",
    "vote": "all any uni ballot sync",
    "match": "any all sync",
    "redux": "add min max and or xor sync",
    "activemask": "",
    "bar barrier": "sync arrive red and or popc warp cta aligned",
    "mma": f"{_LAYOUTS} rn satfinite xor and popc",
    "wmma": f"load store mma a b c d {_LAYOUTS} rn satfinite xor and popc {_SPACES}",
    "ldmatrix": f"sync aligned m8n8 x1 x2 x4 trans {_SPACES}",
    "movmatrix": "sync aligned m8n8 trans",
}
_KNOWN = {opcode: frozenset(names.split()) for opcodes, names in _TABLE.items() for opcode in opcodes.split()}
_CACHE_HINT = re.compile(r"L[12]::")
_SHAPE = re.compile(r"m\d+n\d+k\d+$")


def check_modifiers(instruction: Instruction) -> None:
    """Raises ``Unsupported`` for an instruction with a modifier that it is not known to have. Says nothing of opcodes
    that it does not know."""
    known = _KNOWN.get(instruction.opcode)
    if known is None:
        return
    for modifier in instruction.modifiers:
        if modifier in known or modifier in TYPES or _CACHE_HINT.match(modifier) or _SHAPE.match(modifier):
            continue
        place = instruction.location
        raise Unsupported(f"the instruction {instruction.name} (its .{modifier})", place.file, place.line)
