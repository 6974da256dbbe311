"""Makes machine code of PTX: a kernel, for one shape of its blocks."""
