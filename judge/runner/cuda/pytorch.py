"""The PyTorch that is installed on a GPU's machine, for submissions in Python: its tensors over the judge's buffers.

Imported before the runner locks itself, and only where the site's setting asks for it. Under the setting ``tensors``
what computes is refused by name. That keeps people to their task; the submission shares the process, and may undo it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from judge.runner.triton.dtypes import dtype_of, know_types
from judge.wire.elements import Element

#: What makes tensors: without a device it takes the GPU, as the stand-ins do.
_MAKERS = ("empty", "zeros", "ones", "full", "tensor", "arange")
_MAKERS_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like")
#: The operators of PyTorch that compute nothing, beside views: they make, fill and read tensors, or move bytes.
_ALLOWED = frozenset(
    (
        *_MAKERS, *_MAKERS_LIKE, "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "new_zeros",
        "new_ones", "new_full", "scalar_tensor", "fill", "fill_", "zero", "zero_", "lift_fresh_copy",
        "_local_scalar_dense", "record_stream", "is_pinned", "pin_memory", "_pin_memory", "resize_", "set_",
        "squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "as_strided_",
    )
)  # fmt: skip
#: How much of the device's memory PyTorch's allocator gives to one process.
_MEMORY_SHARE = 0.5
#: Copies: allowed where they change neither types nor the order of elements.
_COPIES = frozenset(("copy_", "clone", "_to_copy"))


class KernelsOnly(TorchDispatchMode):  # type: ignore[misc]  # PyTorch is untyped where it is not installed
    """Refuses every operator that computes; ``on_work`` is called before each that is not a view."""

    def __init__(self, on_work: Callable[[], None]) -> None:
        super().__init__()
        self._on_work = on_work

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keeps PyTorch from importing its compiler, which a runner under its locks could not."""
        return False

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Raises NotImplementedError."""
        del types
        given = kwargs or {}
        if not operator.is_view:
            name = operator.overloadpacket.__name__
            if name in _COPIES:
                _check_copy(name, args, given)
            elif name not in _ALLOWED:
                _refuse(name)
            self._on_work()
        return operator(*args, **given)


class PyTorch:
    """The module, with the GPU as its device. Making one brings it up: raises RuntimeError where that fails."""

    def __init__(self, ordinal: int, *, has_functions: bool) -> None:
        self.has_functions = has_functions
        self.device = torch.device("cuda", ordinal)
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        torch.cuda.set_device(self.device)
        # The other processes of a judgement come up beside it, and need memory for that.
        torch.cuda.set_per_process_memory_fraction(_MEMORY_SHARE, self.device)
        self._warm_up()
        know_types(torch)

    def begin(self, on_work: Callable[[], None]) -> None:
        """Makes the module ready for the submission, which is loaded next.

        ``on_work`` is called where PyTorch itself may put the device to work.
        """
        if self.has_functions:
            on_work()
        else:
            KernelsOnly(on_work).__enter__()
        for name in (*_MAKERS, *_MAKERS_LIKE):
            setattr(torch, name, self._maker(name, on_work))

    @property
    def module(self) -> Any:
        return torch

    @property
    def makers(self) -> dict[str, Callable[..., Any]]:
        """The functions that make tensors, by their names."""
        return {name: getattr(torch, name) for name in (*_MAKERS, *_MAKERS_LIKE)}

    def tensor(self, address: int, shape: Sequence[int], element: Element) -> Any:
        """Returns a tensor over memory of the device, which nothing copies."""
        dtype = getattr(torch, dtype_of(element).name)
        size = functools.reduce(int.__mul__, shape, 1) * dtype.itemsize
        with torch._C._DisableTorchDispatch():
            if not size:
                return torch.empty(tuple(shape), dtype=dtype, device=self.device)
            return self._bytes_at(address, size).view(dtype).view(tuple(shape))

    def stream(self) -> int:
        """Returns the handle of PyTorch's current stream; 0 for the default one."""
        return int(torch._C._cuda_getCurrentRawStream(self.device.index))

    def give_back(self) -> None:
        """Gives the driver the memory that PyTorch keeps for later tensors."""
        torch.cuda.empty_cache()

    def _bytes_at(self, address: int, size: int) -> Any:
        return torch.as_tensor(_Memory(address, size), device=self.device)

    def _maker(self, name: str, on_work: Callable[[], None]) -> Callable[..., Any]:
        made = getattr(torch, name)
        is_like = name in _MAKERS_LIKE
        device = self.device

        @functools.wraps(made)
        def make(*args: Any, **kwargs: Any) -> Any:
            if not is_like and kwargs.get("device") is None:
                kwargs["device"] = device
            on_work()
            # The rule would find nothing, and cost more than the function.
            with torch._C._DisableTorchDispatch():
                return made(*args, **kwargs)

        return make

    def _warm_up(self) -> None:
        """Uses once what starts threads, opens files or loads code, which the runner's locks forbid."""
        first = torch.zeros(64, 64, device=self.device)
        first.fill_(1.5)
        first.copy_(self.tensor(first.data_ptr(), first.shape, Element.FLOAT32))
        second = first.clone().to(torch.float16)
        if self.has_functions:
            torch.matmul(first, first)
            torch.matmul(second, second)
            torch.softmax(first, -1)
        with KernelsOnly(lambda: None):
            second.view(-1).zero_()[0].item()
            repr(second)  # whose code is imported when it is needed
        torch.cuda.synchronize()
        del first, second
        self.give_back()


class _Memory:
    """Memory of the device by the CUDA array interface."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 2,
        }  # fmt: skip


def _check_copy(name: str, args: Sequence[Any], given: dict[str, Any]) -> None:
    tensors = [each for each in args if isinstance(each, torch.Tensor)]
    types = {each.dtype for each in tensors} | {given.get("dtype") or tensors[0].dtype}
    if len(types) > 1 or not all(each.is_contiguous() for each in tensors):
        _refuse(f"{name} of another type or order of elements")


def _refuse(what: str) -> None:
    raise NotImplementedError(
        f"{what} is PyTorch's own work, which this site leaves to kernels: tensors can be made, viewed, filled, read "
        "and copied as they are"
    )
