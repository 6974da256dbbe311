#include "report/remote_kernel.h"

#include <algorithm>

#include "report/wire.h"

namespace emu {

bool RemoteKernel::read(const std::string &bytes) {
    Reader reader(bytes);
    reader(number, name, native.block, native.register_bytes, native.shared_bytes, native.reserved_shared_bytes,
           native.local_bytes, native.param_bytes, param_offsets, param_sizes, files, plain_sites, plain_block_lines,
           plain_shared_arrays, symbol_names, native.max_threads, native.uses_stack, native.uses_barriers,
           native.uses_grid_barrier, native.block_count, native.observed, native.hot_after, plain_contents, polling,
           live_ends, live, waiting, code);
    if (!reader.is_whole() || param_offsets.size() != param_sizes.size()) return false;
    for (const PlainSite &it : plain_sites) {
        if (it.file >= files.size()) return false;
        sites.push_back({files[it.file].c_str(), it.line, it.size, it.order, it.kind, it.space, it.block,
                         it.atomic_form, it.shared_begin, it.shared_end, it.element_size, it.copied});
    }
    for (const PlainLine &it : plain_block_lines) {
        if (it.file >= files.size()) return false;
        block_lines.push_back({files[it.file].c_str(), it.line});
    }
    if (block_lines.size() < size_t{2} * native.block_count) return false;  // further segments follow
    native.block_lines = block_lines.data();
    for (const PlainSharedArray &it : plain_shared_arrays) {
        shared_arrays.push_back({it.name.c_str(), it.offset, it.size});
    }
    native.shared_arrays = shared_arrays.data();
    native.shared_array_count = static_cast<uint32_t>(shared_arrays.size());
    for (const PlainContent &it : plain_contents) {
        if (it.file >= files.size() || it.block >= native.block_count) return false;
        EmuContent &content = contents.emplace_back();
        content = {files[it.file].c_str(), it.line, it.block, {}, {}};
        std::copy_n(it.instructions, class_count, content.instructions);
        std::copy_n(it.flops, flop_types, content.flops);
    }
    native.content_count = static_cast<uint32_t>(contents.size());
    native.contents = contents.data();
    if (!polling.empty() && (live_ends.size() != native.block_count || 2 * live_ends.back() != live.size()))
        return false;
    native.polling_count = static_cast<uint32_t>(polling.size());
    native.polling = polling.data();
    native.live_ends = live_ends.data();
    native.live = live.data();
    native.waiting_count = static_cast<uint32_t>(waiting.size());
    native.waiting = waiting.data();
    native.name = name.c_str();
    native.param_count = static_cast<uint32_t>(param_offsets.size());
    native.param_offsets = param_offsets.data();
    native.param_sizes = param_sizes.data();
    native.site_count = static_cast<uint32_t>(sites.size());
    native.sites = sites.data();
    return true;
}

}  // namespace emu
