"""The kinds of facts that the emulator knows about a PTX opcode. ``opcodes`` is the table of them."""

from __future__ import annotations

from enum import Enum, Flag, auto

from records import dataclass


class Emission(Enum):
    """Where the code of an instruction comes from."""

    EMITTER = auto()  # a function in jit/ops that registers for the opcode
    BLOCK_END = auto()  # the uniform and the masked function, at the end of a basic block
    LOWERED = auto()  # nowhere: a pass of ``ptx.program`` replaces it before code is generated


class Memory(Flag):
    """The access that an instruction makes to the address it names, in program order."""

    NONE = 0
    LOAD = auto()
    STORE = auto()
    ATOMIC = LOAD | STORE


class Divergence(Enum):
    """Where lanes that run together can get different results."""

    OPERANDS = auto()  # only where an operand differs
    ADDRESS = auto()  # only where the address differs
    ALWAYS = auto()
    BROADCAST = auto()  # unless one lane is read by the whole warp
    FULL_MASK = auto()  # never, if the mask names all lanes
    NEVER = auto()


class Sync(Enum):
    """Which threads must arrive before an instruction runs."""

    NONE = auto()
    MASK = auto()  # with ``.sync``: the lanes that the last operand names
    WARP = auto()  # all 32 lanes
    BLOCK = auto()  # the block's threads, as many as an operand says, or the warps of a warpgroup


class Flow(Enum):
    """Which instruction runs next."""

    NEXT = auto()
    JUMP = auto()  # the one behind a label
    TABLE = auto()  # the one behind a label of a table
    LEAVE = auto()  # none: the thread ends
    TRAP = auto()  # none: the launch ends
    BREAKPOINT = auto()  # none: the launch ends, but code after it may be reached by the control flow graph


class Expansion(Enum):
    """Operations for which a GPU has no machine instruction at some types."""

    NONE = auto()
    DIVISION = auto()
    ROOT = auto()  # roots and reciprocals in full precision
    PRODUCT = auto()  # of 64-bit integers


@dataclass(frozen=True, slots=True)
class Cost:
    """How a profile counts an instruction.

    ``pipe`` is its class (``emulator.profile.counters.CLASSES``), or ``memory`` where the state space decides.
    ``float_pipe`` replaces it at floating-point types: ``special``, or ``float`` for the class of the type itself.
    ``flops`` counts floating-point operations per element.
    """

    pipe: str
    float_pipe: str = ""
    flops: int = 0
    expansion: Expansion = Expansion.NONE


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that the emulator knows about one opcode, or about one form of it (``wmma.load``).

    ``modifiers``: those it accepts besides types, matrix shapes and cache hints; None accepts any.
    ``writes``: the first operand is the destination; ``accumulates``: it is read, too.
    ``reads_carry``: the condition code is a further operand.
    ``space``: the state space it accesses where no modifier names one.
    ``has_effect``: it changes more than registers. ``reports_faults``: its helper reports bad addresses, so a block
    cannot run a second time after it. ``is_lanewise``: each lane's result is independent of which lanes are active.
    ``is_counted``: the program contains it; False for instructions that a pass makes out of others.
    ``is_awaited_in_shared``: loads from shared or indexed constant memory count as steps of the critical path.
    """

    name: str
    modifiers: frozenset[str] | None
    cost: Cost
    writes: bool = True
    accumulates: bool = False
    reads_carry: bool = False
    memory: Memory = Memory.NONE
    space: str = ""
    has_effect: bool = False
    reports_faults: bool = False
    divergence: Divergence = Divergence.OPERANDS
    sync: Sync = Sync.NONE
    flow: Flow = Flow.NEXT
    is_lanewise: bool = False
    is_counted: bool = True
    is_awaited_in_shared: bool = False
    emission: Emission = Emission.EMITTER

    @property
    def opcode(self) -> str:
        """The opcode without its form."""
        return self.name.partition(".")[0]

    @property
    def ends_block(self) -> bool:
        """Whether a basic block ends with it."""
        return self.flow is not Flow.NEXT or self.sync is Sync.BLOCK
