// A kernel as `python -m emulator` describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi.h"
#include "profile/counters.h"

namespace emu {

// Plain forms of what an EmuKernel points to, as they come over the socket: files are named by number.
struct PlainSite {
    uint32_t file, line;
    uint8_t size;
    uint16_t order;
    uint8_t kind, space;
    uint32_t block, atomic_form, shared_begin, shared_end, element_size, copied;
};

template <class Wire>
void pass(Wire &wire, PlainSite &it) {
    wire(it.file, it.line, it.size, it.order, it.kind, it.space, it.block, it.atomic_form, it.shared_begin,
         it.shared_end, it.element_size, it.copied);
}

struct PlainLine {
    uint32_t file, line;
};

template <class Wire>
void pass(Wire &wire, PlainLine &it) {
    wire(it.file, it.line);
}

struct PlainSharedArray {
    std::string name;
    uint32_t offset, size;
};

template <class Wire>
void pass(Wire &wire, PlainSharedArray &it) {
    wire(it.name, it.offset, it.size);
}

struct PlainContent {
    uint32_t file, line, block;
    uint32_t instructions[class_count], flops[flop_types];
};

template <class Wire>
void pass(Wire &wire, PlainContent &it) {
    wire(it.file, it.line, it.block, it.instructions, it.flops);
}

struct RemoteCode {
    uint32_t function;  // EMU_UNIFORM or EMU_MASKED
    std::string object;
};

template <class Wire>
void pass(Wire &wire, RemoteCode &it) {
    wire(it.function, it.object);
}

// A kernel and all that its EmuKernel points to. It stays for the rest of the process.
struct RemoteKernel {
    EmuKernel native = {};
    uint64_t number = 0;  // by which the server knows it
    std::string name;
    std::vector<uint32_t> param_offsets, param_sizes;
    std::vector<std::string> files, symbol_names;
    std::vector<PlainSite> plain_sites;
    std::vector<EmuSite> sites;
    std::vector<PlainLine> plain_block_lines;
    std::vector<EmuLine> block_lines;
    std::vector<PlainSharedArray> plain_shared_arrays;
    std::vector<EmuSharedArray> shared_arrays;
    std::vector<PlainContent> plain_contents;
    std::vector<EmuContent> contents;
    std::vector<uint32_t> polling, live_ends, live, waiting;
    std::vector<uint64_t> symbols;
    std::vector<RemoteCode> code;

    // False when it makes no sense.
    bool read(const std::string &bytes);
};

}  // namespace emu
