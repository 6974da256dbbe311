"""Makes the call of one baseline: the pack's inputs as PyTorch's tensors, and its outputs as NumPy's arrays.

Works on a GPU and, for baselines of PyTorch, on the CPU, where tests check them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from judge.packs import sizes
from judge.packs.data.storage import stored, stored_type, values_of
from judge.packs.form.argument import Argument
from judge.packs.pack import Case, Pack
from judge.wire.elements import Element

_NARROW = {
    Element.BFLOAT16: torch.bfloat16,
    Element.FLOAT8_E4M3: torch.float8_e4m3fn,
    Element.FLOAT8_E5M2: torch.float8_e5m2,
}


class WrongResult(Exception):
    """A baseline returned something other than the pack's outputs. The message says which baseline and why."""


class Call:
    """The arguments of one call. ``inputs`` are those of ``judge.packs.data.inputs.make_inputs``."""

    def __init__(self, pack: Pack, case: Case, inputs: Mapping[str, Any], device: str) -> None:
        self._pack, self._case = pack, case
        #: What the arguments that a call overwrites held.
        self._pristine: dict[str, torch.Tensor] = {}
        self.arguments: dict[str, Any] = {}
        for argument in pack.arguments:
            name = argument.name
            if not argument.is_pointer:
                self.arguments[name] = inputs[name].item()
            elif argument.role == "out":
                self.arguments[name] = _tensor(argument, np.zeros(sizes.shape(case, argument)), device)
            else:
                self.arguments[name] = _tensor(argument, inputs[name], device)
            if argument.is_output:
                self._pristine[name] = self.arguments[name].clone()

    def again(self) -> Call:
        """Returns the same call in buffers of its own."""
        other = object.__new__(Call)
        other._pack, other._case, other._pristine = self._pack, self._case, self._pristine
        other.arguments = {
            name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in self.arguments.items()
        }
        return other

    def restore(self) -> None:
        """Makes the outputs what they were before the first call."""
        for name, values in self._pristine.items():
            self.arguments[name].copy_(values)

    def make(self, function: Callable[..., Any]) -> Any:
        """Returns the baseline's result. On a GPU, its work may go on."""
        return function(**self.arguments)

    def outputs(self, returned: Any) -> dict[str, Any]:
        """Returns the outputs as the checker takes them. Raises WrongResult."""
        pack = self._pack
        by_name = returned if isinstance(returned, dict) else {pack.outputs[0].name: returned}
        if by_name.keys() != {output.name for output in pack.outputs}:
            wanted, got = ", ".join(output.name for output in pack.outputs), ", ".join(by_name)
            raise WrongResult(f"returns {got}, not {wanted}")
        return {output.name: self._output(output, by_name[output.name]) for output in pack.outputs}

    def _output(self, output: Argument, returned: Any) -> Any:
        array = returned if isinstance(returned, torch.Tensor) else torch.from_numpy(returned.get())
        wanted = _torch_type(output)
        if array.dtype != wanted:
            raise WrongResult(f"returns {output.name} as {array.dtype}, not as {wanted}")
        shape = sizes.shape(self._case, output)
        if array.numel() != int(np.prod(shape)):
            raise WrongResult(f"returns {output.name} of shape {tuple(array.shape)}, not {shape}")
        if output.element in _NARROW:
            array = array.contiguous().view(torch.uint16 if array.element_size() == 2 else torch.uint8)
        elements = array.contiguous().cpu().numpy().reshape(shape)
        return values_of(output.element, elements.view(stored_type(output.element)))


def _tensor(argument: Argument, values: Any, device: str) -> torch.Tensor:
    elements = np.ascontiguousarray(stored(argument.element, values))
    if not elements.flags.writeable or np.shares_memory(elements, values):
        elements = elements.copy()
    return torch.from_numpy(elements).view(_torch_type(argument)).to(device)


def _torch_type(argument: Argument) -> torch.dtype:
    if argument.element in _NARROW:
        return _NARROW[argument.element]
    kind: torch.dtype = torch.from_numpy(np.empty(0, stored_type(argument.element))).dtype
    return torch.bool if argument.element is Element.BOOL else kind
