// Calls that fail, and what becomes of their results: the first argument says which.
#include <cstdio>
#include <cstring>

static int value;

static cudaError_t fails() { return cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(12345), 0); }

static bool has_room(size_t bytes) {
    void *memory;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) return false;
    cudaFree(memory);
    return true;
}

static void drop() { cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(12345), 0); }

__global__ void nothing() {}

int main(int, char **arguments) {
    const char *what = arguments[1];
    auto is = [what](const char *name) { return !std::strcmp(what, name); };
    if (is("compared")) return has_room(1ull << 50);
    if (is("returned")) return fails() == cudaSuccess;
    if (is("kept")) {
        cudaError_t error = cudaSetDevice(5);
        std::printf("%d\n", error);
    }
    if (is("collected")) {
        int errors = 0;
        for (int i = 0; i < 3; ++i) errors |= cudaSetDevice(5 + i);
        return errors == 0;
    }
    if (is("chosen")) {
        switch (cudaSetDevice(7)) {
        case cudaSuccess: return 1;
        case cudaErrorInvalidDevice: return 0;
        default: return 2;
        }
    }
    if (is("ignored")) cudaSetDevice(5);
    if (is("dropped")) drop();
    if (is("void")) (void)fails();
    if (is("launch")) nothing<<<0, 32>>>();
    value = 3;
    return 0;
}
