"""Compiles kernels.cu to a "cubin" in a folder, and loads it: compiles.py FOLDER."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from ctypes import byref, c_int, c_void_p
from pathlib import Path

folder = Path(sys.argv[1])
source = Path(__file__).parent / "kernels.cu"
subprocess.run(["nvcc", "--cubin", "-arch", "sm_80", str(source)], cwd=folder, check=True)

driver = ctypes.CDLL("libcuda.so.1")
context, module = c_void_p(), c_void_p()
results = [
    driver.cuInit(0),
    driver.cuCtxCreate_v2(byref(context), 0, c_int(0)),
    driver.cuModuleLoadData(byref(module), (folder / "kernels.cubin").read_bytes()),
    driver.cuModuleGetFunction(byref(c_void_p()), module, b"add"),
    driver.cuModuleUnload(module),
    driver.cuCtxDestroy_v2(context),
]
print(max(results))
