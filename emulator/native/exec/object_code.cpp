#include "exec/object_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "abi.h"
#include "exec/round_up.h"
#include "host.h"

namespace emu {

namespace {

// What LLVM may call though no kernel names it.
void *library_function(const std::string &name) {
    static const struct {
        const char *name;
        void *address;
    } known[] = {
        {"memcpy", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(std::memcpy))},
        {"memmove", reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(std::memmove))},
        {"memset", reinterpret_cast<void *>(static_cast<void *(*)(void *, int, size_t)>(std::memset))},
        {"fmaf", reinterpret_cast<void *>(static_cast<float (*)(float, float, float)>(::fmaf))},
        {"fma", reinterpret_cast<void *>(static_cast<double (*)(double, double, double)>(::fma))},
    };
    for (const auto &function : known) {
        if (name == function.name) return function.address;
    }
    return nullptr;
}

// Helpers of this very library, whatever else the process has loaded.
void *find_helper(const std::string &name) {
    static void *const self = [] {
        Dl_info info;
        dladdr(reinterpret_cast<void *>(&load_object), &info);
        return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    if (name.rfind("emu_", 0) == 0 && self) return dlsym(self, name.c_str());
    return library_function(name);
}

// The bytes of an object, read with care for their end.
class Image {
public:
    Image(const uint8_t *bytes, size_t size) : bytes_(bytes), size_(size) {}

    const uint8_t *at(uint64_t offset, uint64_t count) const {
        if (offset > size_ || count > size_ - offset) throw BadObject("it is cut short");
        return bytes_ + offset;
    }

    template <typename T>
    std::vector<T> table(uint64_t offset, uint64_t count) const {
        if (count > size_ / sizeof(T)) throw BadObject("it is cut short");
        std::vector<T> rows(count);
        if (count) std::memcpy(rows.data(), at(offset, count * sizeof(T)), count * sizeof(T));
        return rows;
    }

private:
    const uint8_t *bytes_;
    size_t size_;
};

std::string text_at(const std::vector<char> &strings, uint64_t offset) {
    if (offset >= strings.size()) throw BadObject("a name lies outside of its table");
    return std::string(&strings[offset], strnlen(&strings[offset], strings.size() - offset));
}

// Memory that is written first, and then either read or run.
class Mapping {
public:
    explicit Mapping(size_t size) : size_(size) {
        void *got = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) throw BadObject("there is no memory for it");
        bytes_ = static_cast<uint8_t *>(got);
    }
    ~Mapping() {
        if (bytes_) munmap(bytes_, size_);
    }
    Mapping(const Mapping &) = delete;

    uint8_t *bytes() const { return bytes_; }
    // The first `code` bytes become executable, the rest readable; nothing is writable from here on.
    void seal(size_t code) {
        if (mprotect(bytes_, code, PROT_READ | PROT_EXEC) ||
            (size_ > code && mprotect(bytes_ + code, size_ - code, PROT_READ))) {
            throw BadObject("this process may not have executable memory");
        }
        bytes_ = nullptr;  // it stays
    }

private:
    uint8_t *bytes_;
    size_t size_;
};

// A jump to anywhere (jmp *(%rip), then the address), and the address itself for code that loads it.
struct Veneer {
    static constexpr size_t size = 16, address_at = 6;
    static void write(uint8_t *at, uint64_t target) {
        const uint8_t jump[address_at] = {0xff, 0x25, 0, 0, 0, 0};
        std::memcpy(at, jump, sizeof jump);
        std::memcpy(at + address_at, &target, sizeof target);
    }
};

class Loader {
public:
    Loader(const uint8_t *object, size_t size) : image_(object, size) { read_tables(); }

    void *load(const char *entry) {
        size_t code = lay_out(true, 0);
        veneers_at_ = code;
        code = round_up(code + symbols_.size() * Veneer::size, page_);
        size_t total = round_up(lay_out(false, code), page_);
        Mapping mapping(total);
        bytes_ = mapping.bytes();
        for (size_t i = 0; i < sections_.size(); ++i) {
            const Elf64_Shdr &section = sections_[i];
            if (place_[i] == absent || section.sh_type == SHT_NOBITS || !section.sh_size) continue;
            std::memcpy(bytes_ + place_[i], image_.at(section.sh_offset, section.sh_size), section.sh_size);
        }
        for (const Elf64_Shdr &section : sections_) {
            if (section.sh_type == SHT_RELA) relocate(section);
        }
        void *start = bytes_ + find_entry(entry);
        mapping.seal(code);
        return start;
    }

private:
    static constexpr size_t absent = ~size_t{0};
    static constexpr size_t max_bytes = size_t{1} << 30;  // so that all of it is within reach of 32-bit displacements

    void read_tables() {
        Elf64_Ehdr header;
        std::memcpy(&header, image_.at(0, sizeof header), sizeof header);
        const uint8_t expected[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
        if (std::memcmp(header.e_ident, expected, sizeof expected) || header.e_type != ET_REL ||
            header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
            throw BadObject("it is no relocatable object for x86-64");
        }
        sections_ = image_.table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
        for (const Elf64_Shdr &section : sections_) {
            if (section.sh_type != SHT_SYMTAB) continue;
            if (section.sh_link >= sections_.size()) throw BadObject("its symbols have no names");
            const Elf64_Shdr &names = sections_[section.sh_link];
            symbols_ = image_.table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
            strings_ = image_.table<char>(names.sh_offset, names.sh_size);
        }
        place_.assign(sections_.size(), absent);
    }

    // Gives the sections that are code (or are not) their places from `end` on; returns where they end.
    size_t lay_out(bool code, size_t end) {
        for (size_t i = 0; i < sections_.size(); ++i) {
            const Elf64_Shdr &section = sections_[i];
            bool wanted =
                (section.sh_flags & SHF_ALLOC) && (section.sh_type == SHT_PROGBITS || section.sh_type == SHT_NOBITS);
            if (!wanted || ((section.sh_flags & SHF_EXECINSTR) != 0) != code) continue;
            uint64_t align = section.sh_addralign ? section.sh_addralign : 1;
            if (align > page_ || (align & (align - 1))) throw BadObject("a section has an odd alignment");
            if (section.sh_size > max_bytes) throw BadObject("a section is too large");
            end = round_up(end, align);
            place_[i] = end;
            end += section.sh_size;
            if (end > max_bytes) throw BadObject("it is too large");
        }
        return end;
    }

    // Where a symbol lies, or its far address.
    uint64_t address_of(size_t index) {
        const Elf64_Sym &symbol = symbols_[index];
        if (symbol.st_shndx == SHN_UNDEF) {
            std::string name = text_at(strings_, symbol.st_name);
            void *found = find_helper(name);
            if (!found) throw BadObject("it needs " + name + ", which is not here");
            return reinterpret_cast<uint64_t>(found);
        }
        return reinterpret_cast<uint64_t>(bytes_) + offset_of(symbol);
    }

    size_t offset_of(const Elf64_Sym &symbol) const {
        if (symbol.st_shndx >= sections_.size() || place_[symbol.st_shndx] == absent ||
            symbol.st_value > sections_[symbol.st_shndx].sh_size) {
            throw BadObject("a symbol lies in no section");
        }
        return place_[symbol.st_shndx] + symbol.st_value;
    }

    uint64_t veneer_of(size_t index) {
        uint8_t *at = bytes_ + veneers_at_ + index * Veneer::size;
        if (!*at) Veneer::write(at, address_of(index));
        return reinterpret_cast<uint64_t>(at);
    }

    void relocate(const Elf64_Shdr &table) {
        if (table.sh_info >= sections_.size()) throw BadObject("relocations of no section");
        size_t begin = place_[table.sh_info], size = sections_[table.sh_info].sh_size;
        if (begin == absent) return;  // of what is not loaded
        for (const Elf64_Rela &entry : image_.table<Elf64_Rela>(table.sh_offset, table.sh_size / sizeof(Elf64_Rela))) {
            uint64_t type = ELF64_R_TYPE(entry.r_info), index = ELF64_R_SYM(entry.r_info);
            size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
            if (entry.r_offset > size || width > size - entry.r_offset) throw BadObject("a relocation lies outside");
            if (index >= symbols_.size()) throw BadObject("a relocation has no symbol");
            apply(type, index, bytes_ + begin + entry.r_offset, static_cast<uint64_t>(entry.r_addend));
        }
    }

    void apply(uint64_t type, size_t index, uint8_t *at, uint64_t addend) {
        uint64_t here = reinterpret_cast<uint64_t>(at);
        bool far = symbols_[index].st_shndx == SHN_UNDEF;
        switch (type) {
        case R_X86_64_64: return put<uint64_t>(at, address_of(index) + addend);
        case R_X86_64_PC64: return put<uint64_t>(at, address_of(index) + addend - here);
        case R_X86_64_PC32:
        case R_X86_64_PLT32: return put_near(at, (far ? veneer_of(index) : address_of(index)) + addend - here);
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: return put_near(at, veneer_of(index) + Veneer::address_at + addend - here);
        default: throw BadObject("a relocation of kind " + std::to_string(type) + " is not known");
        }
    }

    template <typename T>
    static void put(uint8_t *at, T value) {
        std::memcpy(at, &value, sizeof value);
    }

    static void put_near(uint8_t *at, uint64_t distance) {
        auto value = static_cast<int32_t>(distance);
        if (static_cast<uint64_t>(int64_t{value}) != distance) throw BadObject("a relocation does not reach");
        put(at, value);
    }

    size_t find_entry(const char *name) const {
        for (const Elf64_Sym &symbol : symbols_) {
            if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
            if (text_at(strings_, symbol.st_name) != name) continue;
            size_t offset = offset_of(symbol);
            if (offset >= veneers_at_) throw BadObject("its function is no code");
            return offset;
        }
        throw BadObject(std::string("it has no function ") + name);
    }

    const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    Image image_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<Elf64_Sym> symbols_;
    std::vector<char> strings_;
    std::vector<size_t> place_;  // of each section in the mapping
    size_t veneers_at_ = 0;
    uint8_t *bytes_ = nullptr;
};

}  // namespace

void *load_object(const uint8_t *object, size_t size, const char *entry) { return Loader(object, size).load(entry); }

}  // namespace emu

// The address of function `entry`, or null: then `*message` says why, until this thread's next call.
EMU_HOST void *emu_load_object(const uint8_t *object, uint64_t size, const char *entry, const char **message) {
    static thread_local std::string why;
    try {
        return emu::load_object(object, size, entry);
    } catch (const std::exception &error) {
        why = error.what();
        *message = why.c_str();
        return nullptr;
    }
}

EMU_HOST void emu_install_code(const EmuKernel *kernel, uint32_t which, void *code) {
    kernel->functions[which].store(reinterpret_cast<EmuFunction>(code), std::memory_order_release);
}
