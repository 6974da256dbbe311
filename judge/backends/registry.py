"""Looks up backends by their kind, and devices by the names that users type."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.kinds import KINDS, unknown_kind
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.backends.base import Backend


class UnknownKind(InternalError):
    """No backend is registered for a kind of device."""


class UnknownDevice(Exception):
    """No device of that name; ``nearest`` are the names that come closest, or all when none does."""

    def __init__(self, name: str, known: list[str], problem: str) -> None:
        self.name = name
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        self.nearest = close or known
        hint = f"did you mean {' or '.join(close)}?" if close else f"this machine has {', '.join(known)}"
        text = f"unknown device '{name}': {hint}"
        super().__init__(f"{text} ({problem})" if problem else text)


class Backends:
    """The backends that one process judges with. Immutable: ``with_backend`` returns another set."""

    def __init__(self, makers: Mapping[str, Callable[[], Backend]]) -> None:
        self._makers = MappingProxyType(dict(makers))

    def of(self, kind: str) -> Backend:
        """Returns the backend of a kind. Raises UnknownKind."""
        maker = self._makers.get(kind)
        if maker is None:
            raise UnknownKind(unknown_kind(kind, self._makers))
        return maker()

    def __iter__(self) -> Iterator[Backend]:
        return (maker() for maker in self._makers.values())

    def with_backend(self, backend: Backend) -> Backends:
        """Returns these and one more, which takes the place of another of its kind."""
        return Backends({**self._makers, backend.kind: lambda: backend})

    def list_devices(self, settings: JudgeSettings) -> list[DeviceInfo]:
        """Finds every device of this machine. Takes half a second where there is a GPU."""
        return [device for backend in self for device in backend.discover(settings).devices]

    def find_device(self, name: str, settings: JudgeSettings) -> DeviceInfo:
        """Finds a device by its key (``nvidia-h200``) or selector (``cuda:0``). Raises UnknownDevice.

        Asks the kinds in the order of their registration, and stops at the one that has the device.
        """
        known: list[str] = []
        problem = ""
        for backend in self:
            discovery = backend.discover(settings)
            for device in discovery.devices:
                if backend.answers_to(device, name):
                    return device
                known += [device.key, backend.selector(device)]
            if name.startswith(backend.kind):
                problem = discovery.problem
        raise UnknownDevice(name, list(dict.fromkeys(known)), problem)

    def selector(self, device: DeviceInfo) -> str:
        """Returns the name by which commands of this machine address the device. Raises UnknownKind."""
        return self.of(device.kind).selector(device)


def _make(module: str) -> Backend:
    backend: Backend = importlib.import_module(module).make_backend()
    return backend


#: The kinds of ``judge.kinds``. The module of each is imported at its first use.
BUILTIN_BACKENDS = Backends({name: partial(_make, kind.module) for name, kind in KINDS.items()})
