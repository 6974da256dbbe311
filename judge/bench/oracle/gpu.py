"""The GPU in the oracle's process: CuPy's arrays, and the judge's own kernels, which make inputs and digests."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from judge.packs.drawing import fill_by_recipe
from judge.packs.pool import SecretPool, mixes
from judge.packs.storage import stored_type
from judge.wire.digest import DIGEST_BYTES, level_sizes
from judge.wire.elements import Element
from judge.wire.kernel_abi import LAWS, RECIPE, is_planted, law_of, recipe_values
from judge.wire.recipe import Recipe

_THREADS, _PIECE_THREADS = 256, 64
_BYTES_A_BLOCK = 32 * _THREADS
_BLOCKS_A_MULTIPROCESSOR = 32
#: cudaMemcpyHostToDevice.
_TO_DEVICE = 1
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
        self._blocks = _BLOCKS_A_MULTIPROCESSOR * self.device.attributes["MultiProcessorCount"]
        cupy.get_default_memory_pool().set_limit(fraction=_MEMORY_SHARE)
        self._launch_kernel = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
        self._module = cupy.cuda.function.Module()
        self._module.load_file(str(kernels))
        names = [f"{work}_{law}" for work in ("make", "plant") for law in LAWS if law != "masked"]
        names += ["make_pool", "digest_pieces"]
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
        blocks = min(-(-array.nbytes // _BYTES_A_BLOCK), self._blocks)
        law = law_of(recipe)
        values = (array.data.ptr, array.nbytes, *recipe_values(recipe), beside, 0)
        self._launch(f"make_{law}", blocks, _THREADS, f"PQ{RECIPE}PP", values)
        if is_planted(recipe):
            self._launch(f"plant_{law}", 1, _THREADS, f"PQ{RECIPE}PP", values)
        return array

    @staticmethod
    def upload(array: Any) -> Any:
        """Returns a copy of a host's array. CuPy's own way would allocate as much page-locked memory for each."""
        source = np.ascontiguousarray(array)
        made = cupy.empty(source.shape, source.dtype)
        if source.nbytes:
            cupy.cuda.runtime.memcpy(made.data.ptr, source.ctypes.data, source.nbytes, _TO_DEVICE)
        return made

    def digest(self, array: Any) -> bytes:
        """Returns the tree digest of ``judge.wire.digest`` of an array's bytes."""
        address, size = array.data.ptr, array.nbytes
        levels = []
        for level in level_sizes(size):
            target = cupy.empty(level, np.uint8)
            blocks = -(-level_sizes(size)[0] // (DIGEST_BYTES * _PIECE_THREADS))
            self._launch("digest_pieces", blocks, _PIECE_THREADS, "PQP", (address, size, target.data.ptr))
            address, size = target.data.ptr, level
            # Freed memory may be given to the next array, on the same stream: each stays until all are made.
            levels.append(target)
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
            values = (made.data.ptr, made.nbytes, *pool.key)
            self._launch("make_pool", self._blocks, _THREADS, "PQQQ", values)
            self._pool = pool, made
        return self._pool[1]

    def _launch(self, name: str, blocks: int, threads: int, layout: str, values: tuple[Any, ...]) -> None:
        packed = struct.pack(layout, *values)
        buffer = ctypes.create_string_buffer(packed, len(packed))
        size = ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER, ctypes.cast(buffer, ctypes.c_void_p), _SIZE, ctypes.cast(ctypes.byref(size), ctypes.c_void_p), _END
        )
        function = ctypes.c_void_p(self._functions[name].ptr)
        stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
        code = self._launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, None, extra)
        if code:
            raise RuntimeError(f"{name} could not be launched: error {code} of the driver")


def numbers(element: Element, array: Any, decoder: Any) -> Any:
    """Returns the numbers that an array, elements as they lie in memory, stands for (``judge.packs.storage``)."""
    if element.facts.narrow is not None:
        return decoder(element.facts.narrow)[array]
    return array != 0 if element is Element.BOOL else array
