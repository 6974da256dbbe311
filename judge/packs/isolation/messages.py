"""The messages between the judge and a pack's process: a text, with arrays in shared memory.

What the judge sends is trusted: a pickle. What a pack's process sends is not: ``answers`` reads it.
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
import time
from collections.abc import Callable, Sequence
from typing import Any

from judge.packs.isolation import answers
from judge.packs.isolation.answers import BadAnswer
from judge.packs.isolation.shared_array import shared_memory_of

#: Length of the text, number of buffers, bytes in the descriptor sent along.
_HEADER = struct.Struct("<QIQ")
#: Size of a buffer, and whether it has a descriptor of its own or its place in the common one.
_BUFFER = struct.Struct("<Q?Q")
_MAX_DESCRIPTORS = 200
_ALIGNMENT = 64
_MAX_TEXT, _MAX_HEAD = 1 << 30, 1 << 20
#: Of an answer, whose arrays lie beside it.
_MAX_ANSWER = 64 << 20
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

__all__ = ["BadAnswer", "receive_answer", "receive_trusted", "send", "send_answer"]


def send(channel: socket.socket, content: Any, persistent_id: Callable[[Any], Any] = lambda _: None) -> None:
    """Sends a message of the judge. Blocks until the other side has taken it. Raises OSError."""
    buffers: list[pickle.PickleBuffer] = []
    text = io.BytesIO()
    pickler = _Pickler(text, protocol=5, buffer_callback=buffers.append)
    pickler.identify = persistent_id
    pickler.dump(content)
    _send(channel, text.getbuffer(), [buffer.raw() for buffer in buffers], may_share=True)


def send_answer(channel: socket.socket, content: Any) -> None:
    """Sends an answer of a pack's process. Raises OSError, and TypeError for what cannot be sent."""
    views: list[memoryview] = []
    _send(channel, memoryview(answers.write(content, views)), views, may_share=False)


def _send(channel: socket.socket, text: memoryview, views: Sequence[memoryview], *, may_share: bool) -> None:
    own: dict[int, int] = {}
    for index, view in enumerate(views if may_share else ()):
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
        head = _HEADER.pack(text.nbytes, len(views), common) + b"".join(table)
        size = struct.pack("<I", len(head))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        # At once: each part that comes alone would wake the other side for nothing.
        whole = b"".join((size, head, text))
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
    received = _receive(channel, _MAX_TEXT)
    if received is None:
        return None
    content, table, common, fds = received
    buffers = _map_buffers(table, common, fds)
    unpickler = _TrustedUnpickler(io.BytesIO(content), buffers=buffers)
    unpickler.load_by_id = persistent_load
    return unpickler.load()


def receive_answer(channel: socket.socket) -> Any:
    """Returns a message of a pack's process. Its arrays cannot be written to.

    The channel's timeout bounds the whole of it. Raises BadAnswer, EOFError, OSError.
    """
    within_s = channel.gettimeout()
    received = _receive(channel, _MAX_ANSWER, None if within_s is None else time.monotonic() + within_s)
    if received is None:
        raise EOFError
    content, table, common, fds = received
    return answers.read(content, _map_sealed(table, common, fds))


def _receive(
    channel: socket.socket, most: int, deadline: float | None = None
) -> tuple[bytes, list[tuple[int, bool, int]], int, list[int]] | None:
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
        if len(size) < 4:
            raise EOFError
        head = _exactly(channel, struct.unpack("<I", size)[0], _MAX_HEAD, deadline)
        if len(head) < _HEADER.size:
            raise BadAnswer("a message of a wrong length")
        length, count, common = _HEADER.unpack_from(head)
        if len(head) != _HEADER.size + count * _BUFFER.size:
            raise BadAnswer("a message of a wrong length")
        table = [_BUFFER.unpack_from(head, _HEADER.size + index * _BUFFER.size) for index in range(count)]
        return _exactly(channel, length, most, deadline), table, common, fds
    except BaseException:
        _close(fds)
        raise


def _exactly(channel: socket.socket, size: int, most: int, deadline: float | None) -> bytes:
    if size > most:
        raise BadAnswer("a message of a wrong length")
    data = bytearray(size)
    view = memoryview(data)
    while view:
        if deadline is not None:
            # Each byte may come alone, just before the next would be late.
            channel.settimeout(max(0.01, deadline - time.monotonic()))
            if time.monotonic() > deadline:
                raise TimeoutError
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
        if not _is_sealed(fds[0], common):
            raise BadAnswer("shared memory that is not sealed")
        if any(offset + size > common for size, _, offset in table):
            raise BadAnswer("an array outside of the shared memory")
        shared = memoryview(mmap.mmap(fds[0], common, prot=mmap.PROT_READ))
        return [shared[offset : offset + size] for size, _, offset in table]
    finally:
        _close(fds)


def _is_sealed(fd: int, size: int) -> bool:
    try:
        return os.fstat(fd).st_size == size and fcntl.fcntl(fd, fcntl.F_GET_SEALS) & _SEALS == _SEALS
    except OSError:  # no memory at all, but a file or a socket
        return False


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
