"""The device: memory, launches and reports, over the native library."""
