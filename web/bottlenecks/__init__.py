"""Bottlenecks of kernels: a page for each cause, with a kernel before and after."""
