"""The emulated device of this process: memory, errors, reports. Programs see it as the CUDA runtime."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from emulator.jit.cache import Cache
from emulator.runtime import library as native
from emulator.runtime.errors import CudaError
from emulator.runtime.limits import Limits
from emulator.runtime.native_report import take_report
from emulator.runtime.programs import Programs
from emulator.runtime.report import Report

if TYPE_CHECKING:
    from emulator.model import Gpu

Checks = Literal["default", "full"]

# The native library calls back for as long as the process lives: what it calls must never be collected.
_installed: list[Programs] = []


class Runtime:
    """Loads the replacement ``libcudart.so.13`` (made by ``emulator.native.ensure``) for the whole process.

    One device to a process: a second Runtime is the same device with other limits. All threads are made here,
    ``threads`` of them (default: one for each CPU that this process may use); later nothing needs a new one.
    ``schedule_seed`` runs warps and blocks in another order, the same for the same seed, and work of streams when it is
    waited for. ``checks="full"`` adds racecheck and initcheck (``tell_silent``: also races with stores that change
    nothing), ``profile`` fills in ``LaunchStats.profile``: either makes kernels several times as slow. ``l2_bytes`` is
    the size of the profile's L2 (default: 50 MiB; a GPU's is
    ``load_gpu(name).memory.l2_bytes``); ``gpu`` sets it, and the multiprocessors, clocks and bandwidth that programs
    are told, to that GPU's. ``cache`` is a folder where machine code is kept for the next process
    (``emulator.jit.cache``); who can write there decides what code runs here. Load programs afterwards
    (``ctypes.CDLL``).
    """

    def __init__(
        self,
        *,
        library: Path,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        threads: int | None = None,
        schedule_seed: int | None = None,
        checks: Checks = "default",
        tell_silent: bool = False,
        profile: bool = False,
        l2_bytes: int | None = None,
        gpu: Gpu | None = None,
        cache: Path | None = None,
    ) -> None:
        self._library = native.load(library)
        self._settings = native.native_settings(
            limits,
            threads=threads,
            schedule_seed=schedule_seed,
            check_full=checks == "full",
            profile=profile,
            tell_silent=tell_silent,
            l2_bytes=l2_bytes,
            gpu=gpu,
        )
        self._checks: Checks = checks
        self._profile = profile
        self._library.emu_configure(ctypes.byref(self._settings))
        if not _installed:
            programs = Programs(self._library)
            _installed.append(programs)
            self._library.emu_set_callbacks(ctypes.byref(programs.callbacks))
        _installed[0].kernels.use_cache(Cache(cache) if cache is not None else None)

    def observe(self, *, checks: Checks | None = None, profile: bool | None = None) -> None:
        """Changes the checks and the profiling of later launches; None leaves a setting as it is."""
        self._checks = checks or self._checks
        self._profile = self._profile if profile is None else profile
        self._library.emu_set_observe(self._checks == "full", self._profile)

    def schedule(self, seed: int | None, *, runs_ahead: bool = False) -> None:
        """Changes the order of warps and blocks of later launches, and of streams; None: that of their numbers.

        Behind a barrier all warps of a block get as far as the first loop before one goes on, as is likely on hardware.
        With ``runs_ahead``, in an order by seed, one may go on to the next barrier at once.
        """
        self._settings.order = 0 if seed is None else 2 if runs_ahead else 1
        self._settings.seed = (seed or 0) & (1 << 64) - 1
        self._configure()

    def limit_wall(self, wall_s: float | None) -> None:
        """Changes the wall-clock limit of each later launch."""
        self._settings.wall_s = wall_s or 0.0
        self._configure()

    def _configure(self) -> None:
        self._settings.check_full, self._settings.profile = self._checks == "full", self._profile
        self._library.emu_configure(ctypes.byref(self._settings))

    def malloc(self, size: int, *, label: str | None = None, at: int = 0) -> int:
        """Allocates zeroed device memory, at ``at`` if that is not 0, else at a multiple of 256. Returns its address.

        Reports call it ``label``. Raises ``CudaError`` (2).
        """
        out = ctypes.c_uint64()
        code = self._library.emu_malloc(size, (label or "").encode(), at, ctypes.byref(out))
        if code:
            raise self._error(code, f"{size} bytes of device memory are not to be had")
        return out.value

    def free(self, ptr: int) -> None:
        """Frees an allocation, after sticky errors too. Raises ``CudaError`` (1) if none begins at ``ptr``."""
        code = self._library.emu_free(ptr)
        if code:
            raise self._error(code, f"no allocation begins at {ptr:#x}")

    def view(self, ptr: int, size: int) -> memoryview:
        """Returns the memory itself, writable, until it is freed. Raises ``ValueError`` outside of allocations."""
        if size and not self._library.emu_holds(ptr, size):
            raise ValueError(f"{ptr:#x}..{ptr + size:#x} is not inside one allocation")
        return memoryview((ctypes.c_ubyte * size).from_address(ptr)).cast("B")

    def synchronize(self) -> None:
        """Raises ``CudaError`` for a sticky error (every time), or for this thread's last error, which it clears."""
        message = ctypes.c_char_p()
        code = self._library.emu_take_error(ctypes.byref(message))
        if code:
            raise self._error(code, (message.value or b"").decode(errors="replace"))

    def last_error(self) -> int:
        """Returns this thread's last error and clears it unless it is sticky, as ``cudaGetLastError`` does."""
        return int(self._library.cudaGetLastError())

    def clear_errors(self) -> None:
        """Clears all errors, sticky ones too, for hosts that continue in the same process. Device memory is kept."""
        self._library.emu_clear_errors()

    @property
    def has_reset(self) -> bool:
        """Whether a program has reset the device: all memory from before is gone."""
        return bool(self._library.emu_has_reset())

    @contextlib.contextmanager
    def shielded(self) -> Iterator[None]:
        """Makes host code that dereferences a device pointer get SIGSEGV while inside, as with a GPU.

        Kernels and copies work as usual; views of device memory must not be used inside.
        """
        self._library.emu_set_shield(1)
        try:
            yield
        finally:
            self._library.emu_set_shield(0)

    @property
    def library(self) -> ctypes.CDLL:
        """The native library."""
        return self._library

    @property
    def programs(self) -> Programs:
        """The device code of the programs that this process has loaded."""
        return _installed[0]

    def take_report(self) -> Report:
        """Returns the report on what happened since the last call."""
        return take_report(self._library)

    def _error(self, code: int, message: str) -> CudaError:
        return CudaError(code, self._library.emu_error_name(code).decode(), message)
