"""The masked function of a kernel is made when a warp first needs it: many kernels never do."""

from __future__ import annotations

import ctypes
import itertools
import logging
import threading
import weakref

from emulator.jit import engine
from emulator.jit.emitter import Unit
from emulator.jit.masked import MaskedFunction

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)
_waiting: weakref.WeakValueDictionary[int, Masked] = weakref.WeakValueDictionary()


class Masked:
    """One kernel's masked function. Keep it while the kernel may run."""

    def __init__(self, unit: Unit, offsets: dict[str, int], target: engine.Target) -> None:
        self.number = next(_numbers)
        self._unit: Unit | None = unit
        self._offsets = offsets
        self._target = target
        self._lock = threading.Lock()
        self._code: engine.Code | None = None
        _waiting[self.number] = self

    def compile(self) -> int:
        """The function's address; made at the first call."""
        with self._lock:
            if self._code is None:
                assert self._unit is not None
                unit = self._unit
                text = MaskedFunction(unit, self._offsets).emit().replace("define internal", "define", 1)
                source = engine.module_text(unit.declarations, [*unit.constants(), text], self._target)
                self._code = engine.compile_ir(source, "masked", self._target)
                self._unit = None
            return self._code.address


def _compile(number: int, slot: int) -> int:
    """Called by generated code, on any thread; writes the address where ``slot`` points.

    Not 0: it could not be made.
    """
    try:
        ctypes.c_void_p.from_address(slot).value = _waiting[number].compile()
    except Exception:
        _log.exception("while compiling the masked function of a kernel")
        return 1
    return 0


_callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p)(_compile)


def bind() -> None:
    engine.bind("emu_compile_masked", engine.pointer_of(_callback))
