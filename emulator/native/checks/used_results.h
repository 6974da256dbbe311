// Whether a program looks at what a call returns, as far as its machine code tells.
#pragma once

#include "checks/call_errors.h"

namespace emu {

// Whether the code behind the innermost call of the program into this library begins by reading the result. Where a
// function of the program returns at once, its caller counts. False where that is not plain to see.
bool uses_result(const Frames &walk);

}  // namespace emu
