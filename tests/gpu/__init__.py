"""Tests that need a real NVIDIA GPU: ``make test-gpu``, or ``pytest -m gpu tests/gpu`` where PyCUDA is installed."""
