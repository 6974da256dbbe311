"""The table of PTX opcodes: what each reads, writes and costs, where it diverges, and who emits it.

This is the only place for facts about an opcode; the functions in jit/ops hold its semantics. An opcode that has no
row is refused by name. An opcode whose facts depend on its first modifier has one row per form (``wmma.load``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.ptx.facts import Cost, Divergence, Emission, Expansion, Facts, Flow, Memory, Sync

#: Modifiers of accesses that other threads may race with.
STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
#: Modifiers of accesses that the host may take part in.
OF_SYSTEM = frozenset(("volatile", "mmio", "sys"))

_ROUNDINGS = "rn rz rm rp"
_SPACES = "global shared shared::cta shared::cluster local const param generic"
_ORDERS = f"weak cta cluster gpu sys {' '.join(STRONG)}"
_CACHES = "ca cg cs lu cv wb wt nc"
_COMPARISONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
_LAYOUTS = "row col sync aligned"
_ANY = None

_INT, _OTHER, _CONTROL, _SYNC = Cost("int"), Cost("other"), Cost("control"), Cost("sync")
_WARP, _MEMORY, _ATOMIC, _TENSOR = Cost("warp"), Cost("memory"), Cost("atomic"), Cost("tensor")
_SLOW_INT = Cost("special")  # counts and searches of bits share the unit of special functions
_COMPARE = Cost("int", "float")
_SPECIAL = Cost("other", "special", 1)
_ROOT = Cost("other", "special", 1, Expansion.ROOT)

# Groups of facts that several rows share.
_LANEWISE: dict[str, Any] = {"is_lanewise": True}
_CARRYING: dict[str, Any] = {"reads_carry": True}
_NO_RESULT: dict[str, Any] = {"writes": False}
_EFFECT: dict[str, Any] = {"writes": False, "has_effect": True}
_HELPER: dict[str, Any] = {"reports_faults": True, "sync": Sync.WARP}
_MBARRIER: dict[str, Any] = {"has_effect": True, "divergence": Divergence.ALWAYS}
_BARRIER: dict[str, Any] = {**_EFFECT, "sync": Sync.BLOCK, "emission": Emission.BLOCK_END}
_END: dict[str, Any] = {"writes": False, "emission": Emission.BLOCK_END}
_LOWERED: dict[str, Any] = {"emission": Emission.LOWERED}


def _rows() -> Iterator[tuple[str, str | None, Cost, dict[str, Any]]]:
    """Yields (opcodes, modifiers, cost, other facts)."""
    # Arithmetic.
    yield "add sub", f"{_ROUNDINGS} ftz sat cc", Cost("int", "float", 1), _LANEWISE
    yield "addc subc", "cc", _INT, _CARRYING
    yield "mul", f"{_ROUNDINGS} ftz sat hi lo wide", Cost("int", "float", 1, Expansion.PRODUCT), _LANEWISE
    yield "mad", f"{_ROUNDINGS} ftz sat hi lo wide cc", Cost("int", "float", 2, Expansion.PRODUCT), _LANEWISE
    yield "madc", "hi lo cc", _INT, _CARRYING
    yield "mul24 mad24", "hi lo sat", _INT, _LANEWISE
    yield "fma", f"{_ROUNDINGS} ftz sat relu", Cost("other", "float", 2), _LANEWISE
    yield "div", f"{_ROUNDINGS} ftz approx full", Cost("int", "special", 1, Expansion.DIVISION), _LANEWISE
    yield "rem", "", Cost("int", expansion=Expansion.DIVISION), _LANEWISE
    yield "rcp sqrt", f"{_ROUNDINGS} ftz approx", _ROOT, _LANEWISE
    yield "rsqrt", "ftz approx", _ROOT, _LANEWISE
    yield "sin cos lg2 ex2 tanh", "ftz approx", _SPECIAL, _LANEWISE
    yield "abs neg", "ftz", _COMPARE, _LANEWISE
    yield "min max", "ftz NaN relu", _COMPARE, _LANEWISE
    yield "copysign", "", Cost("other", "float"), {}
    yield "testp", "finite infinite number notanumber normal subnormal", _COMPARE, {}
    yield "sad", "", _INT, _LANEWISE
    yield "dp4a", "", _INT, {}
    yield "dp2a", "lo hi", _INT, {}
    yield "vabsdiff2 vabsdiff4", "add", _INT, {}
    video = " ".join(f"{operand}.{part}" for operand in "dab" for part in ("b0", "b1", "b2", "b3", "h0", "h1"))
    yield "vadd vsub vabsdiff vmin vmax", f"sat add min max {video}", _INT, _LANEWISE
    yield "vshl vshr", f"clamp wrap sat add min max {video}", _INT, _LANEWISE
    yield "vset", f"eq ne lt le gt ge add min max {video}", _INT, _LANEWISE
    yield "vmad", f"sat po shr7 shr15 a.neg b.neg c.neg {video}", _INT, _LANEWISE
    yield "istypep", "texref samplerref surfref", _INT, _LANEWISE
    # Bits.
    yield "and or xor not cnot shl shr bfe bfi", "", _INT, _LANEWISE
    yield "lop3", "and or xor", _INT, _LANEWISE
    yield "shf", "l r clamp wrap", _INT, _LANEWISE
    yield "prmt", "f4e b4e rc8 ecl ecr rc16", _INT, _LANEWISE
    yield "popc clz brev", "", _SLOW_INT, _LANEWISE
    yield "bfind", "shiftamt", _SLOW_INT, _LANEWISE
    yield "bmsk szext", "clamp wrap", _INT, {}
    yield "fns", "", _INT, {}
    # Comparison, selection, conversion, moves.
    yield "set setp", f"{_COMPARISONS} and or xor ftz", _COMPARE, _LANEWISE
    yield "selp", "", _INT, _LANEWISE
    yield "slct", "ftz", _INT, _LANEWISE
    yield "cvt", f"{_ROUNDINGS} rni rzi rmi rpi rna ftz sat satfinite relu pack", Cost("convert"), _LANEWISE
    yield "mov", "", _OTHER, _LANEWISE
    yield "cvta", f"{_SPACES} param::entry to", _OTHER, _LANEWISE
    yield "isspacep", f"{_SPACES} param::entry", _INT, {}
    yield "createpolicy", _ANY, _OTHER, {}
    # Memory.
    load = {"memory": Memory.LOAD, "divergence": Divergence.ADDRESS}
    yield "ld", f"{_SPACES} {_ORDERS} {_CACHES} v2 v4 v8 unified", _MEMORY, {
        **load, **_LANEWISE, "is_awaited_in_shared": True,
    }  # fmt: skip
    yield "ldu", f"{_SPACES} {_ORDERS} {_CACHES} v2 v4 v8 unified", _MEMORY, load
    complete = "async mbarrier::complete_tx::bytes"
    yield "st", f"{_SPACES} {_ORDERS} {_CACHES} v2 v4 v8 {complete}", _MEMORY, {
        **_EFFECT, **_LANEWISE, "memory": Memory.STORE,
    }  # fmt: skip
    atomic = f"{_SPACES} {_ORDERS} add min max exch cas and or xor inc dec noftz v2 v4 v8"
    yield "atom", atomic, _ATOMIC, {
        **_LANEWISE, "memory": Memory.ATOMIC, "has_effect": True, "divergence": Divergence.ALWAYS,
    }  # fmt: skip
    yield "red", f"{atomic} {complete}", _ATOMIC, {**_EFFECT, **_LANEWISE, "memory": Memory.ATOMIC}
    bulk = (
        "bulk tensor tile im2col im2col_no_offs 1d 2d 3d 4d 5d bulk_group read mbarrier::complete_tx::bytes "
        "multicast::cluster prefetch L2"
    )
    yield (
        "cp",
        (
            f"async {_SPACES} ca cg commit_group wait_group wait_all mbarrier arrive noinc {bulk} "
            "reduce add min max inc dec and or xor noftz"
        ),
        _MEMORY,
        _EFFECT,
    )
    fields = "global_address rank box_dim global_dim global_stride element_stride elemtype"
    modes = "interleave_layout swizzle_mode swizzle_atomicity fill_mode"
    yield "tensormap.replace", f"replace tile b1024 {fields} {modes} {_SPACES}", _MEMORY, _EFFECT
    yield "tensormap.cp_fenceproxy", f"cp_fenceproxy tensormap::generic sync aligned {_SPACES} {_ORDERS}", _MEMORY, {
        **_HELPER, **_EFFECT, "divergence": Divergence.ALWAYS,
    }  # fmt: skip
    # Textures and surfaces. Texels lie in global memory, wherever the address comes from.
    image = {"space": "global", "reports_faults": True, "divergence": Divergence.ALWAYS}
    shapes = "1d 2d 3d a1d a2d"
    yield "tex", f"base level grad {shapes} cube acube v4", _MEMORY, image
    yield "tld4", "r g b a 2d v4", _MEMORY, image
    yield "suld", f"b {shapes} v2 v4 trap clamp zero {_CACHES}", _MEMORY, image
    yield "sust", f"b {shapes} v2 v4 trap clamp zero {_CACHES}", _MEMORY, {**image, **_EFFECT, "memory": Memory.STORE}
    yield "sured", f"b {shapes} add min max and or trap clamp zero", _ATOMIC, {**image, **_EFFECT}
    query = "width height depth array_size num_mipmap_levels normalized_coords"
    yield "txq suq", query, _OTHER, {"reports_faults": True, "divergence": Divergence.ALWAYS}
    yield "prefetch prefetchu discard applypriority", _ANY, _OTHER, _NO_RESULT
    yield "membar fence", _ANY, _SYNC, _NO_RESULT
    # Barriers of a block, and of threads that count down.
    barrier = "sync arrive red and or popc cta aligned"
    yield "bar.sync bar.arrive bar.red bar.cta", barrier, _SYNC, _BARRIER
    yield "barrier.sync barrier.arrive barrier.red barrier.cta", barrier, _SYNC, _BARRIER
    yield "barget", _ANY, _OTHER, {"divergence": Divergence.NEVER, "is_counted": False}
    mbarrier = f"parity noComplete expect_tx {_SPACES} {_ORDERS}"
    yield "mbarrier.init mbarrier.inval", f"init inval {mbarrier}", _SYNC, {**_MBARRIER, **_NO_RESULT}
    yield "mbarrier.arrive mbarrier.arrive_drop", f"arrive arrive_drop {mbarrier}", _SYNC, _MBARRIER
    yield "mbarrier.test_wait mbarrier.try_wait", f"test_wait try_wait {mbarrier}", _SYNC, _MBARRIER
    yield "mbarrier.expect_tx mbarrier.complete_tx", f"complete_tx {mbarrier}", _SYNC, {**_MBARRIER, **_NO_RESULT}
    yield "mbarrier.pending_count", f"pending_count {mbarrier}", _SYNC, _MBARRIER
    # Clusters.
    yield "barrier.cluster", f"cluster arrive wait aligned {_ORDERS}", _SYNC, _BARRIER
    yield "mapa getctarank", _SPACES, _INT, {}
    # Warps.
    yield "bar.warp", "warp sync", _SYNC, {**_EFFECT, "sync": Sync.MASK}
    yield "shfl", "up down bfly idx sync", _WARP, {"divergence": Divergence.BROADCAST, "sync": Sync.MASK}
    yield "vote", "all any uni ballot sync", _WARP, {"divergence": Divergence.FULL_MASK, "sync": Sync.MASK}
    yield "redux", "add min max and or xor sync", _WARP, {"divergence": Divergence.FULL_MASK, "sync": Sync.MASK}
    yield "match", "any all sync", Cost("match"), {"divergence": Divergence.ALWAYS, "sync": Sync.MASK}
    yield "elect", "sync", _WARP, {"divergence": Divergence.ALWAYS}
    yield "setmaxnreg", "inc dec sync aligned", _OTHER, _NO_RESULT
    yield "activemask", "", _WARP, {"divergence": Divergence.NEVER}
    # Matrices.
    wmma = f"a b c d {_LAYOUTS} rn satfinite xor and popc {_SPACES}"
    matrix = {**_HELPER, "divergence": Divergence.ALWAYS}
    yield "wmma.load", f"load {wmma}", _MEMORY, {**matrix, "memory": Memory.LOAD}
    yield "wmma.store", f"store {wmma}", _MEMORY, {**matrix, **_EFFECT, "memory": Memory.STORE}
    yield "wmma.mma", f"mma {wmma}", _TENSOR, matrix
    yield "mma", f"{_LAYOUTS} rn satfinite xor and popc", _TENSOR, {**matrix, "reports_faults": False}
    yield "ldmatrix", f"sync aligned m8n8 x1 x2 x4 trans {_SPACES}", _MEMORY, {
        **matrix, "memory": Memory.LOAD, "space": "shared", "is_awaited_in_shared": True,
    }  # fmt: skip
    yield "stmatrix", f"sync aligned m8n8 x1 x2 x4 trans {_SPACES}", _MEMORY, {
        **matrix, **_EFFECT, "memory": Memory.STORE, "space": "shared",
    }  # fmt: skip
    yield "wgmma.mma_async", "mma_async sync aligned satfinite", _TENSOR, {
        **matrix, "has_effect": True, "accumulates": True,
    }  # fmt: skip
    yield "wgmma.fence wgmma.commit_group", "fence commit_group sync aligned", _SYNC, {**_EFFECT, "sync": Sync.WARP}
    yield "wgmma.wait_group", "wait_group sync aligned", _SYNC, _BARRIER
    yield "movmatrix", "sync aligned m8n8 trans", _WARP, {**matrix, "reports_faults": False}
    # Control flow.
    yield "bra", _ANY, _CONTROL, {**_END, "flow": Flow.JUMP}
    yield "brx", _ANY, _CONTROL, {**_END, "flow": Flow.TABLE}
    yield "ret exit", _ANY, _CONTROL, {**_END, "flow": Flow.LEAVE}
    yield "trap", _ANY, _CONTROL, {**_END, "flow": Flow.TRAP}
    yield "brkpt", _ANY, _CONTROL, {**_END, "flow": Flow.BREAKPOINT}
    yield "nanosleep", _ANY, _SYNC, _EFFECT
    yield "griddepcontrol", _ANY, _SYNC, _NO_RESULT
    yield "pmevent", _ANY, _OTHER, _NO_RESULT
    # Calls and the stack. The passes of ``ptx.program`` replace some of these by others.
    yield "call enter", _ANY, _CONTROL, {**_LOWERED, **_NO_RESULT}
    yield "alloca stacksave", _ANY, _OTHER, _LOWERED
    yield "stackrestore", _ANY, _OTHER, {**_LOWERED, **_NO_RESULT}
    yield "stackcheck", _ANY, _OTHER, _NO_RESULT
    yield "param", _ANY, _OTHER, {"is_counted": False}
    yield "call_printf call_malloc call_device", _ANY, _CONTROL, {"has_effect": True, "divergence": Divergence.ALWAYS}
    yield "call_free call_assertfail", _ANY, _CONTROL, _EFFECT


def _table() -> dict[str, Facts]:
    table: dict[str, Facts] = {}
    for names, modifiers, cost, facts in _rows():
        accepted = None if modifiers is None else frozenset(modifiers.split())
        for name in names.split():
            assert name not in table, f"{name} has two rows"
            table[name] = Facts(name, accepted, cost, **facts)
    return table


OPCODES: Mapping[str, Facts] = _table()


def facts_of(opcode: str, modifiers: tuple[str, ...]) -> Facts | None:
    """Returns the facts about an instruction's opcode, or about its form; None for an opcode without a row."""
    facts = OPCODES.get(opcode)
    return facts or (OPCODES.get(f"{opcode}.{modifiers[0]}") if modifiers else None)
