"""The CPU emulator, on every machine: times are modelled for a named GPU."""
