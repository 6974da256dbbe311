"""GPUs as the trusted side knows them: which there are, NVML, health, calibration and the device lock."""
