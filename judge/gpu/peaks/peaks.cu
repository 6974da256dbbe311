// The kernels that measure what a GPU can do. `counts.py` beside this says how much work each does.
#include "bandwidth.cuh"
#include "fma.cuh"
#include "mma.cuh"
#include "wgmma.cuh"
