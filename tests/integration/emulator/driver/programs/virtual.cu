// Virtual memory: virtual WHAT.
#include <cstring>
#include <vector>

#include "checked.cuh"

constexpr size_t piece = 2 << 20;

__global__ void fill(int* values, size_t n, int value) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) values[i] = value;  // stores
}

__global__ void first_of(const int* values, int* out) { *out = *values; }  // reads

static CUmemAllocationProp on_device() {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return properties;
}

static CUmemGenericAllocationHandle create(size_t size = piece) {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties = on_device();
    CHECK(cuMemCreate(&handle, size, &properties, 0));
    return handle;
}

static CUdeviceptr reserve(size_t size) {
    CUdeviceptr address;
    CHECK(cuMemAddressReserve(&address, size, 0, 0, 0));
    return address;
}

static CUresult give_access(CUdeviceptr address, size_t size, CUmemAccess_flags flags) {
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(address, size, &access, 1);
}

constexpr auto writable = CU_MEM_ACCESS_FLAGS_PROT_READWRITE, closed = CU_MEM_ACCESS_FLAGS_PROT_NONE,
               readable = CU_MEM_ACCESS_FLAGS_PROT_READ;

// One piece of memory at an address range of two.
static CUdeviceptr mapped_piece(CUmemAccess_flags flags) {
    CUdeviceptr address = reserve(2 * piece);
    CUmemGenericAllocationHandle handle = create();
    CHECK(cuMemMap(address, piece, 0, handle, 0));
    CHECK(cuMemRelease(handle));
    if (flags != closed) CHECK(give_access(address, piece, flags));
    return address;
}

static int* pointer(CUdeviceptr address) { return reinterpret_cast<int*>(address); }

static int at(CUdeviceptr address) {
    int value;
    CHECK(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

static void fill_all(CUdeviceptr address, size_t size, int value) {
    fill<<<8, 256>>>(pointer(address), size / sizeof(int), value);
    CHECK(cudaDeviceSynchronize());
}

static void works() {
    size_t granularity, free_before, free_meanwhile, free_after, total;
    CUmemAllocationProp properties = on_device();
    int supported = 0;
    CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemGetInfo(&free_before, &total));
    std::printf("supported %d, granularity %zu\n", supported, granularity);

    // Two pieces side by side are used as one.
    CUdeviceptr address = reserve(3 * piece);
    CUmemGenericAllocationHandle first = create(), second = create();
    CHECK(cuMemMap(address, piece, 0, first, 0));
    CHECK(cuMemMap(address + piece, piece, 0, second, 0));
    CHECK(give_access(address, 2 * piece, writable));
    fill_all(address, 2 * piece, 7);
    std::vector<int> host(2 * piece / sizeof(int));
    CHECK(cudaMemcpy(host.data(), pointer(address), 2 * piece, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int value : host) wrong += value != 7;
    CHECK(cuMemGetInfo(&free_meanwhile, &total));
    std::printf("wrong %zu, used %zu\n", wrong, free_before - free_meanwhile);

    // The same memory at a second place.
    CUdeviceptr other = reserve(piece);
    CHECK(cuMemMap(other, piece, 0, second, 0));
    CHECK(give_access(other, piece, writable));
    fill_all(other, 4, 9);
    std::printf("seen at both places: %d %d, and not in the other piece: %d\n", at(other), at(address + piece), at(address));

    // Other memory at the first: what was there stays.
    CHECK(cuMemUnmap(address, 2 * piece));
    CHECK(cuMemMap(address, piece, 0, second, 0));
    CHECK(give_access(address, piece, readable));
    unsigned long long flags;
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CHECK(cuMemGetAccess(&flags, &device, address));
    std::printf("mapped elsewhere: %d, access %llu\n", at(address), flags);

    // Memory lasts until it has neither handles nor a mapping.
    CHECK(cuMemRelease(first));
    CHECK(cuMemRelease(second));
    CUmemGenericAllocationHandle again;
    CHECK(cuMemRetainAllocationHandle(&again, pointer(address)));
    CHECK(cuMemGetAllocationPropertiesFromHandle(&properties, again));
    std::printf("same handle: %d, type %d\n", again == second, properties.type == CU_MEM_ALLOCATION_TYPE_PINNED);
    CHECK(cuMemUnmap(address, piece));
    CHECK(cuMemUnmap(other, piece));
    CHECK(cuMemRelease(again));
    CHECK(cuMemAddressFree(address, 3 * piece));
    CHECK(cuMemAddressFree(other, piece));
    CHECK(cuMemGetInfo(&free_after, &total));
    std::printf("all free again: %d\n", free_after == free_before);
}

static void use(CUdeviceptr address) {
    int* out;
    CHECK(cudaMalloc(&out, sizeof *out));
    first_of<<<1, 1>>>(pointer(address), out);
    SAY(cudaDeviceSynchronize());
}

static void unmapped() { use(mapped_piece(writable) + piece); }

static void no_access() { use(mapped_piece(closed)); }

static void read_only() {
    CUdeviceptr address = mapped_piece(readable);
    use(address);
    fill<<<1, 1>>>(pointer(address), 1, 1);
    SAY(cudaDeviceSynchronize());
}

static void gone() {
    CUdeviceptr address = mapped_piece(writable);
    CHECK(cuMemUnmap(address, piece));
    CHECK(cuMemAddressFree(address, 2 * piece));
    use(address);
}

static void host() {
    volatile int* address = pointer(mapped_piece(writable));
    std::fflush(stdout);
    *address = 1;  // not the host's
}

static void leak() {
    create();  // never released
    CUdeviceptr address = mapped_piece(writable);
    CHECK(cuMemUnmap(address, piece));
    CHECK(cuMemAddressFree(address, 2 * piece));
}

static void misuse() {
    CUmemGenericAllocationHandle handle, small = create();
    CUmemAllocationProp properties = on_device(), elsewhere = properties, of_host = properties;
    elsewhere.location.id = 1;
    of_host.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CUdeviceptr address = mapped_piece(writable), none_reserved;
    SAY(cuMemAddressReserve(&none_reserved, 100, 0, 0, 0));
    SAY(cuMemAddressReserve(&none_reserved, piece, 3, 0, 0));
    SAY(cuMemCreate(&handle, 100, &properties, 0));
    SAY(cuMemCreate(&handle, size_t{1} << 50, &properties, 0));
    SAY(cuMemCreate(&handle, piece, &elsewhere, 0));
    SAY(cuMemCreate(&handle, piece, &of_host, 0));
    std::printf("maps\n");
    SAY(cuMemMap(address, piece, 0, small, 0));
    SAY(cuMemMap(address + 4096, piece, 0, small, 0));
    SAY(cuMemMap(address + piece, 2 * piece, 0, small, 0));
    SAY(cuMemMap(address + 2 * piece, piece, 0, small, 0));
    SAY(cuMemMap(address + piece, piece, 0, 12345, 0));
    SAY(give_access(address, 2 * piece, writable));
    SAY(give_access(address + piece, piece, writable));
    std::printf("frees\n");
    SAY(cuMemUnmap(address, piece / 2));
    SAY(cuMemAddressFree(address, 2 * piece));
    SAY(cuMemAddressFree(address, piece));
    SAY(cudaFree(pointer(address)));
    SAY(cuMemRelease(12345));
    CHECK(cuMemRelease(small));
    SAY(cuMemRelease(small));
    std::printf("copies\n");
    char bytes[8] = {};
    SAY(cuMemcpyHtoD(address + piece - 4, bytes, 8));
    CHECK(give_access(address, piece, readable));
    SAY(cuMemcpyHtoD(address, bytes, 8));
    SAY(cuMemsetD8(address, 0, 8));
    SAY(cuMemcpyDtoH(bytes, address, 8));
    CHECK(cuMemUnmap(address, piece));
    SAY(cuMemcpyDtoH(bytes, address, 8));
    CHECK(cuMemAddressFree(address, 2 * piece));
}

int main(int argc, char** argv) {
    struct {
        const char* name;
        void (*run)();
    } parts[] = {{"works", works}, {"unmapped", unmapped}, {"no_access", no_access}, {"read_only", read_only},
                 {"gone", gone},   {"host", host},         {"leak", leak},           {"misuse", misuse}};
    if (argc != 2) return 2;
    CHECK(cudaSetDevice(0));
    for (auto& part : parts) {
        if (!std::strcmp(argv[1], part.name)) part.run();
    }
}
