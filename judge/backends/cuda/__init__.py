"""NVIDIA GPUs, through CUDA: times are measured."""
