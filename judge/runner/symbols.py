"""Finds functions that a library contains but does not export, in its ELF symbol table.

A submission for a GPU carries its own CUDA runtime and exports only ``solve``, so ``dlsym`` cannot find the runtime's
``cudaGetLastError``, which alone knows why a launch was refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from emulator.elf import ElfError, ElfFile


def function_offsets(fd: int, names: Iterable[str]) -> dict[str, int]:
    """Returns the offsets, from where the library is loaded, of those of ``names`` that the ELF file defines.

    Returns nothing for a file that is stripped or damaged.
    """
    wanted = {name.encode(): name for name in names}
    try:
        return {
            wanted[symbol.name]: symbol.value
            for symbol in ElfFile.from_descriptor(fd).symbols()
            if symbol.name in wanted and symbol.section and symbol.value
        }
    except ElfError:
        return {}
