"""GPUs as the trusted side knows them: the catalogue, NVML, health, calibration and the device lock."""
