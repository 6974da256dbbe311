#include "report/symbol_names.h"

#include <cxxabi.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

namespace emu {

namespace {

// Nobody reads a longer name: template arguments are left out from the innermost on.
constexpr size_t most_characters = 160;

// "a::b" of a mangled "a::b<...>(...)": the demangler gives up on very long names.
std::string qualified_name(const char *mangled) {
    std::string name;
    const char *at = mangled + 2;
    bool is_nested = *at == 'N';
    if (is_nested) ++at;
    for (;;) {
        char *begin = nullptr;
        unsigned long length = *at >= '1' && *at <= '9' ? std::strtoul(at, &begin, 10) : 0;
        if (!length || length > std::strlen(begin)) break;
        name += (name.empty() ? "" : "::") + std::string(begin, length);
        at = begin + length;
        if (!is_nested) break;
    }
    if (name.empty()) return mangled;
    return *at == 'I' ? name + "<...>" : name;
}

// The name with "..." for what template arguments below so many levels consist of.
std::string without_arguments(const std::string &name, int levels) {
    std::string text;
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        // Not those of operator<, operator->, and the like.
        bool is_operator = i >= 8 && name.compare(i - 8, 8, "operator") == 0;
        if (name[i] == '<' && !is_operator && ++depth == levels + 1) text += "<...>";
        if (depth <= levels) text += name[i];
        if (name[i] == '>' && depth > 0 && !(i && name[i - 1] == '-')) --depth;
    }
    return text;
}

std::string shortened(const std::string &name) {
    if (name.size() <= most_characters) return name;
    for (int levels = 4; levels > 0; --levels) {
        std::string text = without_arguments(name, levels);
        if (text.size() <= most_characters) return text;
    }
    std::string text = without_arguments(name, 0);
    return text.size() <= most_characters ? text : text.substr(0, most_characters) + "...";
}

std::string demangled(const char *mangled) {
    if (std::strncmp(mangled, "_Z", 2) != 0) return mangled;  // else "d" would be the type double
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    if (status || !text) return qualified_name(mangled);
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
    return shortened(name);
}

std::string executable_path() {
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

}  // namespace emu
