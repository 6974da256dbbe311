#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

struct Patch {
    const char* name;
    void* replacement;
    int done;
};

// Writes `replacement` into each slot through which some loaded object calls the function of that name.
static int patch_slots_of(dl_phdr_info* info, size_t, void* data) {
    Patch* patch = (Patch*)data;
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    if (!dynamic || strstr(info->dlpi_name, "vdso")) return 0;
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    const ElfW(Rela)* tables[2] = {};
    size_t sizes[2] = {};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        auto pointer = dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym)*)pointer;
        if (dynamic->d_tag == DT_STRTAB) names = (const char*)pointer;
        if (dynamic->d_tag == DT_JMPREL) tables[0] = (const ElfW(Rela)*)pointer;
        if (dynamic->d_tag == DT_PLTRELSZ) sizes[0] = dynamic->d_un.d_val;
        if (dynamic->d_tag == DT_RELA) tables[1] = (const ElfW(Rela)*)pointer;
        if (dynamic->d_tag == DT_RELASZ) sizes[1] = dynamic->d_un.d_val;
    }
    if (!symbols || !names) return 0;
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; tables[t] && i < sizes[t] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela)& entry = tables[t][i];
            auto type = ELF64_R_TYPE(entry.r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
            if (strcmp(names + symbols[ELF64_R_SYM(entry.r_info)].st_name, patch->name) != 0) continue;
            void** slot = (void**)(info->dlpi_addr + entry.r_offset);
            if (mprotect((void*)((uintptr_t)slot & ~uintptr_t{4095}), 4096, PROT_READ | PROT_WRITE)) continue;
            *slot = patch->replacement;
            patch->done++;
        }
    }
    return 0;
}

static int patch_slots(const char* name, void* replacement) {
    Patch patch{name, replacement, 0};
    dl_iterate_phdr(patch_slots_of, &patch);
    return patch.done;
}
