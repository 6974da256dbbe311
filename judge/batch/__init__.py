"""Judges many kernels on one machine: builds ahead of the devices, in processes whose end costs one kernel at most."""
