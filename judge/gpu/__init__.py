"""What the trusted side knows of GPUs: the catalogue, NVML, health, calibration and the device lock."""
