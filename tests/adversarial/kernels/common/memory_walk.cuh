#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

// Calls `look(page)` for each readable page within `reach` of an address. Without /proc/self/maps: a system call that
// cannot read a page says so, where a load would end the process.
template <class Look>
static void for_each_page(uintptr_t anchor, uintptr_t reach, Look look) {
    int sink = memfd_create("sink", 0);
    uintptr_t from = anchor > reach ? (anchor - reach) & ~uintptr_t{4095} : 4096;
    for (uintptr_t page = from; page < anchor + reach; page += 4096) {
        if (pwrite(sink, (void*)page, 4096, 0) == 4096) look((const char*)page);
    }
    close(sink);
}
