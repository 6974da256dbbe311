// For programs that use the runtime and the driver: calls that must succeed, and the names of errors.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda.h>

inline const char* name_of(CUresult result) {
    const char* name = nullptr;
    cuGetErrorName(result, &name);
    return name;
}

inline const char* name_of(cudaError_t error) { return cudaGetErrorName(error); }

#define CHECK(call)                                                                 \
    do {                                                                            \
        auto checked = call;                                                        \
        if (static_cast<int>(checked)) {                                            \
            std::printf("line %d: %s\n", __LINE__, name_of(checked));               \
            std::exit(1);                                                           \
        }                                                                           \
    } while (0)

// Prints what a call answers.
#define SAY(call) std::printf("%s\n", name_of(call))
