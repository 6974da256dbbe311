#pragma once

#include <string>

namespace emu {

// "reduce<float>" for a mangled kernel name; names that are not mangled stay. Long template arguments are "<...>".
std::string readable_name(const char *mangled);
// "values" for a variable inside of a function.
std::string variable_name(const char *mangled);

// Of the program that this process runs.
std::string executable_path();

}  // namespace emu
