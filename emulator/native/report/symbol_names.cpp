#include "report/symbol_names.h"

#include <cxxabi.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

namespace emu {

namespace {

std::string demangled(const char *mangled) {
    if (std::strncmp(mangled, "_Z", 2) != 0) return mangled;  // else "d" would be the type double
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    if (status || !text) return mangled;
    std::string name = text;
    std::free(text);
    return name;
}

}  // namespace

std::string variable_name(const char *mangled) {
    std::string name = demangled(mangled);
    size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string readable_name(const char *mangled) {
    std::string name = demangled(mangled);
    if (name == mangled) return name;
    // Without the parameters, which are the last parentheses, and what a template's return type puts in front.
    int depth = 0;
    size_t end = name.size();
    for (size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) {
            end = i;
            break;
        }
    }
    name.resize(end);
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    return name;
}

std::string executable_path() {
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

}  // namespace emu
