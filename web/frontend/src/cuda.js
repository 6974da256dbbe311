// What the editor knows of CUDA C++: its grammar and words, and a signature and one line of help for the names that kernels use
// most.

import { cpp } from "@codemirror/lang-cpp";
import { Decoration, MatchDecorator, ViewPlugin } from "@codemirror/view";

/** Names with a signature and one line of help, shown on hover and beside completions. */
const NAMES = {
  __global__: [
    "__global__ void kernel(…)",
    "A kernel: runs on the GPU, launched from the host with <<<grid, block>>>.",
  ],
  __device__: ["__device__ T function(…)", "A function or variable of the GPU, called from kernels."],
  __host__: ["__host__ T function(…)", "A function of the host; with __device__ it is compiled for both."],
  __shared__: [
    "__shared__ T array[n]",
    "Memory that the threads of a block share. Call __syncthreads() between writing and reading it.",
  ],
  __constant__: ["__constant__ T array[n]", "64 KiB that kernels only read; fastest when all lanes read one address."],
  __restrict__: [
    "T* __restrict__ p",
    "Promises that no other pointer reaches this memory, so that loads may be kept or reordered.",
  ],
  __launch_bounds__: [
    "__launch_bounds__(max_threads, min_blocks)",
    "Lets the compiler use as many registers as blocks of that size allow.",
  ],
  threadIdx: ["uint3 threadIdx", "The thread's index in its block."],
  blockIdx: ["uint3 blockIdx", "The block's index in the grid."],
  blockDim: ["dim3 blockDim", "The number of threads of a block along each axis."],
  gridDim: ["dim3 gridDim", "The number of blocks of the grid along each axis."],
  warpSize: ["int warpSize", "The number of threads of a warp: 32."],
  __syncthreads: [
    "void __syncthreads()",
    "Waits for all threads of the block and makes their writes to shared memory visible. All of them must reach it.",
  ],
  __syncthreads_count: [
    "int __syncthreads_count(int predicate)",
    "As __syncthreads(); returns in how many threads the predicate holds.",
  ],
  __syncthreads_and: [
    "int __syncthreads_and(int predicate)",
    "As __syncthreads(); tells whether the predicate holds in every thread.",
  ],
  __syncthreads_or: [
    "int __syncthreads_or(int predicate)",
    "As __syncthreads(); tells whether the predicate holds in any thread.",
  ],
  __syncwarp: [
    "void __syncwarp(unsigned mask = 0xffffffff)",
    "Waits for the warp's threads in the mask. It does not order threads of other warps.",
  ],
  __activemask: [
    "unsigned __activemask()",
    "The lanes that run this instruction just now; not a way to choose who takes part.",
  ],
  __threadfence: [
    "void __threadfence()",
    "Orders this thread's writes before its later ones, as seen by the whole GPU.",
  ],
  __threadfence_block: [
    "void __threadfence_block()",
    "Orders this thread's writes before its later ones, as seen by its block.",
  ],
  __threadfence_system: [
    "void __threadfence_system()",
    "Orders this thread's writes before its later ones, as seen by the host and other GPUs too.",
  ],
  __shfl_sync: [
    "T __shfl_sync(unsigned mask, T value, int lane, int width = 32)",
    "The value that another lane holds.",
  ],
  __shfl_up_sync: [
    "T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)",
    "The value of the lane delta below; unchanged where there is none.",
  ],
  __shfl_down_sync: [
    "T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)",
    "The value of the lane delta above; unchanged where there is none.",
  ],
  __shfl_xor_sync: [
    "T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32)",
    "The value of the lane whose number is this one's xor lane_mask.",
  ],
  __ballot_sync: [
    "unsigned __ballot_sync(unsigned mask, int predicate)",
    "One bit a lane: whether the predicate holds there.",
  ],
  __any_sync: ["int __any_sync(unsigned mask, int predicate)", "Whether the predicate holds in any lane of the mask."],
  __all_sync: [
    "int __all_sync(unsigned mask, int predicate)",
    "Whether the predicate holds in every lane of the mask.",
  ],
  __match_any_sync: [
    "unsigned __match_any_sync(unsigned mask, T value)",
    "The lanes that hold the same value as this one.",
  ],
  __reduce_add_sync: [
    "int __reduce_add_sync(unsigned mask, int value)",
    "The sum over the lanes of the mask, for 32-bit integers (compute capability 8.0).",
  ],
  __reduce_max_sync: [
    "int __reduce_max_sync(unsigned mask, int value)",
    "The largest value of the lanes in the mask, for 32-bit integers (compute capability 8.0).",
  ],
  __reduce_min_sync: [
    "int __reduce_min_sync(unsigned mask, int value)",
    "The smallest value of the lanes in the mask, for 32-bit integers (compute capability 8.0).",
  ],
  atomicAdd: ["T atomicAdd(T* address, T value)", "Adds in one step and returns the old value."],
  atomicSub: ["T atomicSub(T* address, T value)", "Subtracts in one step and returns the old value."],
  atomicExch: ["T atomicExch(T* address, T value)", "Stores in one step and returns the old value."],
  atomicMin: ["T atomicMin(T* address, T value)", "Keeps the smaller one and returns the old value; integers only."],
  atomicMax: ["T atomicMax(T* address, T value)", "Keeps the larger one and returns the old value; integers only."],
  atomicCAS: [
    "T atomicCAS(T* address, T compare, T value)",
    "Stores value if the word equals compare; returns the old value.",
  ],
  atomicAnd: ["T atomicAnd(T* address, T value)", "Ands in one step and returns the old value."],
  atomicOr: ["T atomicOr(T* address, T value)", "Ors in one step and returns the old value."],
  atomicXor: ["T atomicXor(T* address, T value)", "Xors in one step and returns the old value."],
  __ldg: [
    "T __ldg(const T* address)",
    "Loads through the read-only cache, for memory that nobody writes during the launch.",
  ],
  __expf: ["float __expf(float x)", "A fast e^x with a few units of error in the last place."],
  __logf: ["float __logf(float x)", "A fast natural logarithm with a larger error near 1."],
  __fdividef: ["float __fdividef(float x, float y)", "A fast division; 0 for |y| above 2^126."],
  rsqrtf: ["float rsqrtf(float x)", "1 / sqrt(x) in one step, within 2 units in the last place."],
  fmaf: ["float fmaf(float x, float y, float z)", "x·y + z, rounded once."],
  __fmaf_rn: ["float __fmaf_rn(float x, float y, float z)", "x·y + z, rounded once to the nearest."],
  __popc: ["int __popc(unsigned x)", "The number of bits that are set."],
  __ffs: ["int __ffs(int x)", "The position of the lowest set bit, counted from 1; 0 for 0."],
  __clz: ["int __clz(int x)", "The number of leading zero bits."],
  __brev: ["unsigned __brev(unsigned x)", "The bits in reverse order."],
  __dp4a: ["int __dp4a(int a, int b, int c)", "c plus the four products of the signed bytes of a and b."],
  __float2half: ["__half __float2half(float x)", "Rounds to half precision (cuda_fp16.h)."],
  __half2float: ["float __half2float(__half x)", "Exact (cuda_fp16.h)."],
  __hadd2: ["__half2 __hadd2(__half2 a, __half2 b)", "Two sums in half precision (cuda_fp16.h)."],
  __hfma2: [
    "__half2 __hfma2(__half2 a, __half2 b, __half2 c)",
    "Two fused multiply-adds in half precision (cuda_fp16.h).",
  ],
  cudaMalloc: [
    "cudaError_t cudaMalloc(void** address, size_t bytes)",
    "Allocates device memory. It takes time: its cost is part of the call.",
  ],
  cudaFree: ["cudaError_t cudaFree(void* address)", "Frees device memory and waits for the device."],
  cudaMemset: ["cudaError_t cudaMemset(void* address, int value, size_t bytes)", "Sets every byte of device memory."],
  cudaMemsetAsync: [
    "cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes, cudaStream_t stream = 0)",
    "Sets every byte, in the order of the stream.",
  ],
  cudaMemcpy: [
    "cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind)",
    "Copies and waits.",
  ],
  cudaMemcpyAsync: [
    "cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0)",
    "Copies in the order of the stream.",
  ],
  cudaDeviceSynchronize: [
    "cudaError_t cudaDeviceSynchronize()",
    "Waits for all work. The judge does so after solve; you need not.",
  ],
  cudaGetLastError: [
    "cudaError_t cudaGetLastError()",
    "The last error, such as a launch that could not be made; clears it.",
  ],
  cudaFuncSetAttribute: [
    "cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value)",
    "Needed for more than 48 KiB of dynamic shared memory.",
  ],
  cudaOccupancyMaxActiveBlocksPerMultiprocessor: [
    "cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, kernel, int threads, size_t shared_bytes)",
    "How many blocks of a kernel fit on a multiprocessor.",
  ],
};

/** Words that the editor completes but has no help for. */
const WORDS = [
  "__forceinline__",
  "__noinline__",
  "__managed__",
  "__grid_constant__",
  "cudaStream_t",
  "cudaEvent_t",
  "cudaError_t",
  "cudaSuccess",
  "cudaMemcpyDeviceToDevice",
  "cudaMemcpyDeviceToHost",
  "cudaMemcpyHostToDevice",
  "dim3",
  "float2",
  "float4",
  "int2",
  "int4",
  "uint2",
  "uint4",
  "double2",
  "__half",
  "__half2",
  "half",
  "half2",
  "__nv_bfloat16",
  "__nv_bfloat162",
  "size_t",
  "int8_t",
  "uint8_t",
  "int32_t",
  "uint32_t",
  "int64_t",
  "uint64_t",
  "INFINITY",
  "expf",
  "exp2f",
  "logf",
  "log2f",
  "sqrtf",
  "tanhf",
  "erff",
  "fabsf",
  "fminf",
  "fmaxf",
  "floorf",
  "ceilf",
  "roundf",
  "powf",
  "sinf",
  "cosf",
  "extern",
  "static_cast",
  "reinterpret_cast",
  "constexpr",
  "unsigned",
];

const isQualifier = (word) => /^__\w+__$/.test(word);

const wordPattern = Object.keys(NAMES)
  .sort((one, other) => other.length - one.length)
  .join("|");
const qualifier = Decoration.mark({ class: "cm-cuda-qualifier" });
const builtin = Decoration.mark({ class: "cm-cuda-builtin" });
const launch = Decoration.mark({ class: "cm-cuda-launch" });
const words = new MatchDecorator({
  regexp: new RegExp(`\\b(?:${wordPattern}|__forceinline__|__noinline__|__managed__)\\b|<<<|>>>`, "g"),
  decoration: (match) => (isQualifier(match[0]) ? qualifier : /^\w/.test(match[0]) ? builtin : launch),
});

const markWords = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = words.createDeco(view);
    }
    update(update) {
      this.decorations = words.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export const grammar = {
  extensions: () => [cpp(), markWords],
  names: NAMES,
  completions: [
    ...Object.entries(NAMES).map(([label, told]) => ({
      label,
      type: isQualifier(label) ? "keyword" : "function",
      told,
    })),
    ...WORDS.map((label) => ({ label, type: "keyword" })),
  ],
};
