"""Says which programs of other projects ``outside_programs.py`` runs, with what, and why not the others."""

from __future__ import annotations

#: What a sample's CMakeLists.txt links that is not the runtime, and what the table calls it.
NEEDS = {
    "nvrtc": "NVRTC",
    "cublas": "cuBLAS",
    "cufft": "cuFFT",
    "curand": "cuRAND",
    "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER",
    "npp": "NPP",
    "nvjpeg": "nvJPEG",
    "nvJitLink": "nvJitLink",
    "OpenGL": "graphics",
    "GLUT": "graphics",
    "glut": "graphics",
    "Vulkan": "graphics",
    "EGL": "graphics",
    "MPI": "MPI",
    "FreeImage": "FreeImage",
    "NVSCI": "NvSci",
    "d3d": "Windows",
}
#: The same, by headers that are missing.
HEADERS = {
    "curand": "cuRAND", "cublas": "cuBLAS", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cufft": "cuFFT",
    "cudnn": "cuDNN", "GL/": "graphics", "mpi.h": "MPI", "nccl": "NCCL", "cutensor": "cuTENSOR", "omp.h": "OpenMP",
    "boost/": "Boost", "nvml": "NVML", "cuda_profiler_api.h": "a header of the toolkit that this nvcc lacks",
}  # fmt: skip
#: Samples whose libraries CMakeLists.txt finds by other means.
ALSO_NEED = {
    "EGLStream_CUDA_CrossGPU": "graphics",
    "EGLStream_CUDA_Interop": "graphics",
    "cudaNvSci": "NvSci",
    "jitLto": "NVRTC",
    "simpleD3D11": "Windows",
    "simpleD3D11Texture": "Windows",
    "simpleD3D12": "Windows",
    "simpleP2P": "a second GPU",
    "streamOrderedAllocationP2P": "a second GPU",
}
#: What somebody found who looked into a program.
NOTES = {
    "UnifiedMemoryPerf": "a kernel waits for a flag that the host sets after the launch, which does not return before",
    "graphMemoryNodes": "its first check reads managed memory that nobody wrote (not zero here); its others pass",
}
#: Programs that write of a failure which they provoke.
EXPECT_FAILURE = {"simpleAssert"}
#: Samples that would take many minutes here: smaller arguments, and constants in their sources (a regular expression
#: for each value, and the value here). Of the matrix products, the check by the CPU is switched on.
SAMPLE_ARGUMENTS = {
    "FDTD3d": "--dimx=64 --dimy=64 --dimz=64 --timesteps=2",
    "globalToShmemAsyncCopy": "-wA=128 -hA=128 -wB=128 -hB=128",
}
_SMALL_PRODUCT = ((r"(?<=define [MNK]_TILES )\d+", "16"), (r"(?<=define CPU_DEBUG )0", "1"))
SAMPLE_CONSTANTS: dict[str, tuple[tuple[str, str], ...]] = {
    "bf16TensorCoreGemm": _SMALL_PRODUCT,
    "convolutionTexture": ((r"(?<=imageW     = )3072|(?<=imageH     = )3072", "384"), (r"(?<=iterations = )10", "2")),
    "cudaTensorCoreGemm": _SMALL_PRODUCT,
    "dmmaTensorCoreGemm": ((r"(?<=define [MNK]_TILES )\d+", "32"), (r"(?<=define CPU_DEBUG )0", "1")),
    "HSOpticalFlow": ((r"(?<=nSolverIters = )500", "20"),),
    "immaTensorCoreGemm": _SMALL_PRODUCT,
    "NV12toBGRandResize": ((r"(?<=define TEST_LOOP )20", "1"), (r"(?<=g_ctx.batch      = )24", "2")),
    "scan": ((r"(?<=13 \* )1048576", "65536"), (r"(?<=iCycles = )100", "2")),
    "simpleAttributes": ((r"0xAFFFF", "0xFF"),),
    "simplePitchLinearTexture": ((r"(?<=define NUM_REPS )100", "2"),),
    "tf32TensorCoreGemm": _SMALL_PRODUCT,
}
#: Of HeCBench: a selection, with arguments that are smaller than those for GPUs.
HECBENCH = (
    ("reverse", "2"), ("scan", "65536 2"), ("softmax", "1000 784 0 2"), ("stencil1d", "1048576 2"),
    ("entropy", "256 256 2"), ("bsearch", "65536 2"), ("floydwarshall", "128 2 16"), ("vanGenuchten", "32 32 32 2"),
    ("heat", "256 10"), ("nqueen", "8 7 2"), ("convolution1D", "262144 2"), ("threadfence", "2 100000"),
    ("shuffle", "2 1"), ("popcount", "65536 2"), ("hwt1d", "65536 2"), ("filter", "100000 256 2"),
    ("complex", "10000 2"), ("bitonic-sort", "12 2"), ("layernorm", "2 64 768 2"), ("colorwheel", "10 128 2"),
    ("lud", "-s 256"), ("nw", "1024 10 2"), ("pathfinder", "10000 100 5"), ("aobench", "1"), ("warpsort", "2"),
    ("rotary", "2"), ("black-scholes", "2"), ("mandelbrot", "2"), ("haccmk", "2"), ("wordcount", "1"),
)  # fmt: skip
#: Of Rodinia: the folder below cuda/, the sources, flags, and arguments; only those that need no input files.
RODINIA = (
    ("backprop", "backprop.c facetrain.c imagenet.c backprop_cuda.cu", "16384"),
    ("gaussian", "gaussian.cu", "-s 128"),
    (
        "lavaMD",
        "main.c kernel/kernel_gpu_cuda_wrapper.cu util/num/num.c util/timer/timer.c util/device/device.cu",
        "-boxes1d 3",
    ),
    ("lud/cuda", "lud.cu lud_kernel.cu ../common/common.c -I../common", "-s 256 -v"),
    ("nw", "needle.cu", "512 10"),
    ("particlefilter", "ex_particle_CUDA_naive_seq.cu", "-x 128 -y 128 -z 10 -np 1000"),
    ("pathfinder", "pathfinder.cu", "20000 100 20"),
    ("srad/srad_v2", "srad.cu", "512 512 0 127 0 127 0.5 2"),
    ("streamcluster", "streamcluster_cuda_cpu.cpp streamcluster_cuda.cu", "10 20 64 2048 2048 1000 none out.txt 1"),
)
