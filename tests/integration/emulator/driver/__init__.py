"""Programs that call the CUDA driver API, on the emulator."""
