import signal

import pytest

from judge.wire.last_word import LARGEST_MARK, LastWord

STACK_ADDRESS = 0x7FFC_0000_1234


@pytest.mark.parametrize(
    ("status", "mark", "code", "by", "called_exit", "overflow"),
    [
        (0, 0, 0, None, False, False),
        (159 << 8, 160, 159, None, True, False),
        (159 << 8, 0, 159, None, False, False),
        ((1000 & 0xFF) << 8, 1001, 1000, None, True, False),
        (255 << 8, 1 << 32, -1, None, True, False),
        # A mark that does not fit the status was left by the submission.
        (3 << 8, 1001, 3, None, False, False),
        (3 << 8, LARGEST_MARK, 3, None, False, False),
        (signal.SIGSYS, 0, None, signal.SIGSYS, False, False),
        (signal.SIGSEGV, STACK_ADDRESS, None, signal.SIGSEGV, False, False),
        (signal.SIGSEGV, 0, None, signal.SIGSEGV, False, True),
    ],
)
def test_what_a_status_and_a_mark_tell(
    status: int, mark: int, code: int | None, by: int | None, called_exit: bool, overflow: bool
) -> None:
    word = LastWord.unpack(LastWord(status, mark).pack())
    assert word is not None
    assert (word.code, word.signal, word.called_exit, word.stack_overflow) == (code, by, called_exit, overflow)


@pytest.mark.parametrize("data", [b"", b"1234", bytes(13)])
def test_anything_but_one_whole_word_tells_nothing(data: bytes) -> None:
    assert LastWord.unpack(data) is None
