// Texture and surface objects of the program.
#pragma once

namespace emu {

// Destroys them all.
void forget_images();

}  // namespace emu
