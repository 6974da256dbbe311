import os

from judge.supervisor.output_drain import OutputDrain


def test_keeps_what_is_printed_without_control_characters() -> None:
    drain = OutputDrain(100)
    os.write(drain.write_fd, b"hello\x1b[1m\n\xff")
    assert drain.finish() == "hello\ufffd[1m\n\ufffd"
    assert not drain.flooded.is_set()


def test_too_much_output_is_noticed_and_never_blocks() -> None:
    drain = OutputDrain(1000)
    for _ in range(100):
        os.write(drain.write_fd, b"x" * 10_000)
    assert drain.finish() == "x" * 1000
    assert drain.flooded.is_set()


def test_exactly_the_limit_is_no_flood() -> None:
    drain = OutputDrain(10)
    os.write(drain.write_fd, b"x" * 10)
    assert drain.finish() == "x" * 10
    assert not drain.flooded.is_set()


def test_what_is_printed_is_taken_once() -> None:
    drain = OutputDrain(8)
    os.write(drain.write_fd, b"one\n")
    assert drain.take() == "one\n"
    assert drain.take() == ""
    os.write(drain.write_fd, b"two\nthree\n")
    assert drain.take() == "two\n"
    assert drain.flooded.is_set()
    assert drain.finish() == "one\ntwo\n"
    assert drain.take() == ""
