// What the parts of a program that is linked from several files (nvcc -rdc=true) know of each other.
#pragma once

extern __device__ int scale;
extern __constant__ int offset;
__device__ int scaled(int value);
__global__ void scale_all(int *values, int count);
