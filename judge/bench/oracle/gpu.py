"""The GPU in the oracle's process: CuPy's arrays, and the judge's own kernels, which make inputs and digests."""

from __future__ import annotations

import ctypes
import functools
import os
import queue
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from judge.packs.collection.pool import SecretPool, mixes
from judge.packs.data.drawing import fill_by_recipe
from judge.packs.data.storage import stored_type
from judge.wire.elements import Element
from judge.wire.kernel_abi import (
    ARGUMENTS,
    LAWS,
    POOL_ARGUMENTS,
    Launch,
    digest_launches,
    is_planted,
    pool_launch,
    recipe_launch,
)
from judge.wire.recipe import Recipe

_ARGUMENTS = {**ARGUMENTS, **POOL_ARGUMENTS}
#: cudaMemcpyHostToDevice.
_TO_DEVICE = 1
#: Arrays of more bytes are copied in such parts by several threads: one copies 2.5 GB/s from shared memory.
_PART_BYTES = 8 << 20
_COPIERS = min(6, len(os.sched_getaffinity(0)))
#: The kernels read whole blocks of the pool.
_POOL_PADDING = 256
#: CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
_BUFFER, _SIZE, _END = 1, 2, 0
#: The largest share of the device's memory that arrays take: submissions need the rest.
_MEMORY_SHARE = 0.3


class Gpu:
    """Everything on the default stream of the primary context. Raises CuPy's errors."""

    def __init__(self, ordinal: int, kernels: Path) -> None:
        self.device = cupy.cuda.Device(ordinal)
        self.device.use()
        self._multiprocessors = self.device.attributes["MultiProcessorCount"]
        cupy.get_default_memory_pool().set_limit(fraction=_MEMORY_SHARE)
        # Compiling CUB for each reduction took half a minute (softmax) where CuPy's own kernels take a second.
        cupy._core.set_reduction_accelerators([])
        self._copiers = ThreadPoolExecutor(_COPIERS, initializer=self.device.use, thread_name_prefix="upload")
        #: Page-locked memory and a stream for each thread that copies.
        self._rooms: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        for _ in range(_COPIERS):
            memory = cupy.cuda.alloc_pinned_memory(_PART_BYTES)
            self._rooms.put((np.frombuffer(memory, np.uint8, _PART_BYTES), cupy.cuda.Stream()))
        self._launch_kernel = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
        self._module = cupy.cuda.function.Module()
        self._module.load_file(str(kernels))
        names = [f"{work}_{law}" for work in ("make", "plant") for law in LAWS if law != "masked"]
        names += [*POOL_ARGUMENTS, "digest_pieces"]
        self._functions = {name: self._module.get_function(name) for name in names}
        self._pool: tuple[SecretPool, Any] | None = None

    def draw(self, recipe: Recipe, shape: tuple[int, ...], pool: SecretPool | None) -> Any:
        """Returns the array, as it lies in memory, that a recipe makes."""
        kind = stored_type(recipe.element)
        if recipe.pool is None and mixes(recipe):
            # The kernels mix these with a pool in any case.
            drawn = np.empty(shape, kind)
            fill_by_recipe(recipe, drawn.reshape(-1))
            return self.upload(drawn)
        array = cupy.empty(shape, kind)
        if not array.size:
            return array
        beside = 0
        if recipe.pool is not None and pool is not None:
            beside = self._pool_bytes(pool).data.ptr + recipe.pool
        for work in ("make", "plant") if is_planted(recipe) else ("make",):
            self._launch(
                recipe_launch(
                    work, recipe, array.data.ptr, array.nbytes, multiprocessors=self._multiprocessors, beside=beside
                )
            )
        return array

    def upload(self, array: Any) -> Any:
        """Returns a copy of a host's array. CuPy's own way would allocate as much page-locked memory for each."""
        source = np.ascontiguousarray(array)
        made = cupy.empty(source.shape, source.dtype)
        if source.nbytes > _PART_BYTES:
            copy = functools.partial(self._copy_part, source.reshape(-1).view(np.uint8), made.data.ptr)
            list(self._copiers.map(copy, range(0, source.nbytes, _PART_BYTES)))
        elif source.nbytes:
            cupy.cuda.runtime.memcpy(made.data.ptr, source.ctypes.data, source.nbytes, _TO_DEVICE)
        return made

    def _copy_part(self, source: Any, target: int, begin: int) -> None:
        part = source[begin : begin + _PART_BYTES]
        room, stream = self._rooms.get()
        try:
            room[: part.size] = part
            # The stream waits for the default stream, which may still use what was freed for this array.
            cupy.cuda.runtime.memcpyAsync(target + begin, room.ctypes.data, part.size, _TO_DEVICE, stream.ptr)
            stream.synchronize()
        finally:
            self._rooms.put((room, stream))

    def digest(self, array: Any) -> bytes:
        """Returns the tree digest of ``judge.wire.digest`` of an array's bytes."""
        levels: list[Any] = []

        def place(level: int) -> int:
            # Freed memory may be given to the next array, on the same stream: each stays until all are made.
            levels.append(cupy.empty(level, np.uint8))
            return int(levels[-1].data.ptr)

        for launch in digest_launches(array.data.ptr, array.nbytes, place):
            self._launch(launch)
        return bytes(cupy.asnumpy(levels[-1]))

    def free(self) -> None:
        """Gives all memory back, that of the pool included."""
        self._pool = None
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()

    def _pool_bytes(self, pool: SecretPool) -> Any:
        if self._pool is None or self._pool[0] != pool:
            self._pool = None
            made = cupy.empty(-(-pool.size // _POOL_PADDING) * _POOL_PADDING, np.uint8)
            self._launch(pool_launch(made.data.ptr, made.nbytes, pool.key, multiprocessors=self._multiprocessors))
            self._pool = pool, made
        return self._pool[1]

    def _launch(self, launch: Launch) -> None:
        packed = struct.pack(_ARGUMENTS[launch.kernel], *launch.arguments)
        buffer = ctypes.create_string_buffer(packed, len(packed))
        size = ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER, ctypes.cast(buffer, ctypes.c_void_p), _SIZE, ctypes.cast(ctypes.byref(size), ctypes.c_void_p), _END
        )
        function = ctypes.c_void_p(self._functions[launch.kernel].ptr)
        stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
        code = self._launch_kernel(function, launch.blocks, 1, 1, launch.threads, 1, 1, 0, stream, None, extra)
        if code:
            raise RuntimeError(f"{launch.kernel} could not be launched: error {code} of the driver")


def numbers(element: Element, array: Any, decoder: Any) -> Any:
    """Returns the numbers that an array, elements as they lie in memory, stands for (``judge.packs.data.storage``)."""
    if element.facts.narrow is not None:
        return decoder(element.facts.narrow)[array]
    return array != 0 if element is Element.BOOL else array
