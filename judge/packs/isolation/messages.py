"""The messages between the judge and a pack's process: a pickle, with its arrays in shared memory.

What the judge sends is trusted. What a pack's process sends is not: reading it makes arrays, numbers and the few
classes that are listed here, and nothing else.
"""

from __future__ import annotations

import array
import fcntl
import io
import mmap
import os
import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

from judge.packs.isolation.shared_array import shared_memory_of

#: Length of the pickle, number of buffers, bytes in the descriptor sent along.
_HEADER = struct.Struct("<QIQ")
#: Size of a buffer, and whether it has a descriptor of its own or its place in the common one.
_BUFFER = struct.Struct("<Q?Q")
_MAX_DESCRIPTORS = 200
_ALIGNMENT = 64
_MAX_PICKLE = 1 << 30
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

#: What an answer may consist of, besides what pickle knows by itself.
_ANSWERS = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("judge.check.tolerance", "Expected"),
    ("judge.judgement", "Mismatch"),
}


class BadAnswer(ValueError):
    """An answer of a pack's process that is none."""


def send(channel: socket.socket, content: Any, persistent_id: Callable[[Any], Any] = lambda _: None) -> None:
    """Sends a message. Blocks until the other side has taken it. Raises OSError."""
    buffers: list[pickle.PickleBuffer] = []
    text = io.BytesIO()
    pickler = _Pickler(text, protocol=5, buffer_callback=buffers.append)
    pickler.identify = persistent_id
    pickler.dump(content)
    views = [buffer.raw() for buffer in buffers]
    own: dict[int, int] = {}
    for index, view in enumerate(views):
        memory = shared_memory_of(view) if len(own) < _MAX_DESCRIPTORS else None
        if memory is not None:
            own[index] = memory.fd
    table, common = [], 0
    for index, view in enumerate(views):
        if index in own:
            table.append(_BUFFER.pack(view.nbytes, True, 0))
            continue
        table.append(_BUFFER.pack(view.nbytes, False, common))
        common += -(-view.nbytes // _ALIGNMENT) * _ALIGNMENT
    descriptor = os.memfd_create("pack-message", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) if common else None
    try:
        if descriptor is not None:
            _fill(descriptor, common, [view for index, view in enumerate(views) if index not in own])
        fds = ([] if descriptor is None else [descriptor]) + list(own.values())
        head = _HEADER.pack(text.tell(), len(views), common) + b"".join(table)
        size = struct.pack("<I", len(head))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        # At once: each part that comes alone would wake the other side for nothing.
        whole = b"".join((size, head, text.getbuffer()))
        sent = channel.sendmsg([whole], rights)
        channel.sendall(memoryview(whole)[sent:])
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _fill(descriptor: int, size: int, views: list[memoryview]) -> None:
    os.ftruncate(descriptor, size)
    with mmap.mmap(descriptor, size) as target:
        at = 0
        for view in views:
            target[at : at + view.nbytes] = view
            at += -(-view.nbytes // _ALIGNMENT) * _ALIGNMENT
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)


def receive_trusted(channel: socket.socket, persistent_load: Callable[[Any], Any]) -> Any:
    """Returns a message of the judge; None at the end of the stream. Its arrays cannot be written to."""
    received = _receive(channel)
    if received is None:
        return None
    content, table, common, fds = received
    buffers = _map_buffers(table, common, fds)
    unpickler = _TrustedUnpickler(io.BytesIO(content), buffers=buffers)
    unpickler.load_by_id = persistent_load
    return unpickler.load()


def receive_answer(channel: socket.socket) -> Any:
    """Returns a message of a pack's process. Its arrays cannot be written to. Raises BadAnswer, EOFError, OSError."""
    received = _receive(channel)
    if received is None:
        raise EOFError
    content, table, common, fds = received
    try:
        buffers = _map_sealed(table, common, fds)
        return _AnswerUnpickler(io.BytesIO(content), buffers=buffers).load()
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, IndexError, EOFError, KeyError) as error:
        raise BadAnswer(f"{type(error).__name__}: {error}") from None


def _receive(channel: socket.socket) -> tuple[bytes, list[tuple[int, bool, int]], int, list[int]] | None:
    size, ancillary, _, _ = channel.recvmsg(4, socket.CMSG_SPACE(4 * (_MAX_DESCRIPTORS + 1)), socket.MSG_WAITALL)
    if not size:
        return None
    fds: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received = array.array("i")
            received.frombytes(data[: len(data) - len(data) % received.itemsize])
            fds += received
    try:
        head = _exactly(channel, struct.unpack("<I", size)[0])
        length, count, common = _HEADER.unpack_from(head)
        if length > _MAX_PICKLE or len(head) != _HEADER.size + count * _BUFFER.size:
            raise BadAnswer("a message of a wrong length")
        table = [_BUFFER.unpack_from(head, _HEADER.size + index * _BUFFER.size) for index in range(count)]
        return _exactly(channel, length), table, common, fds
    except BaseException:
        _close(fds)
        raise


def _exactly(channel: socket.socket, size: int) -> bytes:
    if size > _MAX_PICKLE:
        raise BadAnswer("a message of a wrong length")
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = channel.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return bytes(data)


def _map_buffers(table: list[tuple[int, bool, int]], common: int, fds: list[int]) -> list[memoryview]:
    try:
        left = iter(fds)
        shared = memoryview(mmap.mmap(next(left), common, prot=mmap.PROT_READ)) if common else memoryview(b"")
        buffers = []
        for size, own, offset in table:
            if own:
                buffers.append(memoryview(mmap.mmap(next(left), size, prot=mmap.PROT_READ)))
            else:
                buffers.append(shared[offset : offset + size])
        return buffers
    finally:
        _close(fds)


def _map_sealed(table: list[tuple[int, bool, int]], common: int, fds: list[int]) -> list[memoryview]:
    """Maps memory that its sender can no longer change: neither its contents nor its size."""
    try:
        if any(own for _, own, _ in table) or len(fds) != (1 if common else 0):
            raise BadAnswer("descriptors that nobody asked for")
        if not common:
            return [memoryview(b"") for _ in table]
        if os.fstat(fds[0]).st_size != common or fcntl.fcntl(fds[0], fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            raise BadAnswer("shared memory that is not sealed")
        shared = memoryview(mmap.mmap(fds[0], common, prot=mmap.PROT_READ))
        if any(offset + size > common for size, _, offset in table):
            raise BadAnswer("an array outside of the shared memory")
        return [shared[offset : offset + size] for size, _, offset in table]
    finally:
        _close(fds)


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


class _Pickler(pickle.Pickler):
    identify: Callable[[Any], Any]

    def persistent_id(self, obj: Any) -> Any:
        return self.identify(obj)


class _TrustedUnpickler(pickle.Unpickler):
    load_by_id: Callable[[Any], Any]

    def persistent_load(self, pid: Any) -> Any:
        return self.load_by_id(pid)


class _AnswerUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ANSWERS:
            raise pickle.UnpicklingError(f"{module}.{name} in an answer")
        return super().find_class(module, name)
