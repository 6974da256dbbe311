"""Errors of the CUDA runtime as a Python exception."""

from __future__ import annotations


class CudaError(Exception):
    """``code`` and ``name`` are the runtime's (700, "cudaErrorIllegalAddress"); ``message`` says what happened."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(code, name, message)
        self.code = code
        self.name = name
        self.message = message

    def __str__(self) -> str:
        return f"{self.name} ({self.code}): {self.message}"
