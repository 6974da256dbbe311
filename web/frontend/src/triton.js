// What the editor knows of Triton: Python's grammar, and a declaration and one sentence for the names of Triton's language.
// Kernels write `tl.` before most of them.

import { python } from "@codemirror/lang-python";

/** @type {Record<string, [string, string]>} */
const NAMES = {
  program_id: ["tl.program_id(axis)", "The number of this program in the grid, along axis 0, 1 or 2."],
  num_programs: ["tl.num_programs(axis)", "How many programs the grid has along an axis."],
  arange: ["tl.arange(start, end)", "The whole numbers from start to before end; their count is a power of two."],
  zeros: ["tl.zeros(shape, dtype)", "A block of zeros."],
  full: ["tl.full(shape, value, dtype)", "A block of one value."],
  load: [
    "tl.load(pointer, mask=None, other=None)",
    "Loads a block; where the mask is false nothing is read, and the value is other.",
  ],
  store: ["tl.store(pointer, value, mask=None)", "Stores a block; where the mask is false nothing is written."],
  dot: [
    "tl.dot(a, b, acc=None, input_precision='tf32')",
    "A matrix product on tensor cores; 'ieee' keeps single precision exact.",
  ],
  sum: ["tl.sum(block, axis)", "The sum along an axis."],
  max: ["tl.max(block, axis)", "The largest value along an axis."],
  min: ["tl.min(block, axis)", "The smallest value along an axis."],
  argmax: ["tl.argmax(block, axis)", "Where the largest value along an axis stands, the first of equal ones."],
  argmin: ["tl.argmin(block, axis)", "Where the smallest value along an axis stands, the first of equal ones."],
  cumsum: ["tl.cumsum(block, axis)", "Running sums along an axis."],
  associative_scan: [
    "tl.associative_scan(block, axis, combine)",
    "Running results of an associative function, which is a kernel's function.",
  ],
  reduce: ["tl.reduce(block, axis, combine)", "Combines all values along an axis by an associative function."],
  sort: ["tl.sort(block, dim=None, descending=False)", "Sorts a block along its last axis."],
  where: ["tl.where(condition, a, b)", "a where the condition holds, b elsewhere; both are computed."],
  exp: ["tl.exp(x)", "e^x of each element."],
  exp2: ["tl.exp2(x)", "2^x of each element, in one step of the hardware."],
  log: ["tl.log(x)", "The natural logarithm of each element."],
  sqrt: ["tl.sqrt(x)", "The square root, rounded approximately; tl.sqrt_rn rounds exactly."],
  rsqrt: ["tl.rsqrt(x)", "One divided by the square root."],
  sigmoid: ["tl.sigmoid(x)", "1 / (1 + e^-x)."],
  abs: ["tl.abs(x)", "The absolute value."],
  maximum: ["tl.maximum(a, b)", "The larger of two values, element by element."],
  minimum: ["tl.minimum(a, b)", "The smaller of two values, element by element."],
  fma: ["tl.fma(a, b, c)", "a·b + c, rounded once."],
  trans: ["tl.trans(block)", "The block with its axes exchanged."],
  reshape: ["tl.reshape(block, shape)", "The same elements with other extents."],
  broadcast_to: ["tl.broadcast_to(block, shape)", "The block repeated to other extents."],
  expand_dims: ["tl.expand_dims(block, axis)", "The block with one more axis, as block[:, None]."],
  atomic_add: ["tl.atomic_add(pointer, value, mask=None)", "Adds in one step and returns the old values."],
  atomic_max: ["tl.atomic_max(pointer, value, mask=None)", "Keeps the larger values and returns the old ones."],
  atomic_min: ["tl.atomic_min(pointer, value, mask=None)", "Keeps the smaller values and returns the old ones."],
  atomic_cas: [
    "tl.atomic_cas(pointer, compare, value)",
    "Stores value if the word equals compare; returns the old value.",
  ],
  atomic_xchg: ["tl.atomic_xchg(pointer, value, mask=None)", "Stores in one step and returns the old values."],
  make_tensor_descriptor: [
    "tl.make_tensor_descriptor(base, shape, strides, block_shape)",
    "An array whose blocks are loaded and stored by their offsets.",
  ],
  constexpr: ["NAME: tl.constexpr", "A parameter whose value is known when the kernel is compiled."],
  static_range: ["tl.static_range(start, end)", "A loop that the compiler unrolls."],
  device_print: ["tl.device_print('text', value)", "Prints a value of each thread."],
  device_assert: [
    "tl.device_assert(condition, 'text')",
    "Stops the program where the condition fails, under @triton.jit(debug=True).",
  ],
  cdiv: ["triton.cdiv(a, b)", "a / b, rounded up."],
  next_power_of_2: ["triton.next_power_of_2(n)", "The smallest power of two that is not below n."],
  jit: ["@triton.jit", "Makes a function a kernel: kernel[grid](arguments) launches it."],
  autotune: ["@triton.autotune(configs, key)", "Several configurations of a kernel; here the first one is taken."],
  heuristics: ["@triton.heuristics({'NAME': function})", "Computes a constant of a launch from its other arguments."],
};

/** Words that the editor completes but has no help for. */
const WORDS = [
  "import triton",
  "import triton.language as tl",
  "num_warps",
  "num_stages",
  "tl.float16",
  "tl.bfloat16",
  "tl.float32",
  "tl.float64",
  "tl.int8",
  "tl.int32",
  "tl.int64",
  "tl.uint8",
  "tl.uint32",
  "eviction_policy",
  "input_precision",
  "torch.empty",
  "torch.zeros",
];

const ON_THE_HOST = ["cdiv", "next_power_of_2", "jit", "autotune", "heuristics"];

/** How a name is written in a source. */
const written = (name) => (ON_THE_HOST.includes(name) ? `triton.${name}` : `tl.${name}`);

export const grammar = {
  extensions: () => [python()],
  names: NAMES,
  completions: [
    ...Object.entries(NAMES).map(([name, told]) => ({ label: written(name), type: "function", told })),
    ...WORDS.map((label) => ({ label, type: "keyword" })),
  ],
};
