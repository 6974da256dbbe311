import os

from judge.supervisor.output_drain import OutputDrain


def test_keeps_what_is_printed_without_control_characters() -> None:
    drain = OutputDrain(100)
    os.write(drain.write_fd, b"hello\x1b[1m\n\xff")
    assert drain.finish() == "hello\ufffd[1m\n\ufffd"
    assert not drain.flooded.is_set()


def test_much_output_is_cut_and_a_flood_is_noticed() -> None:
    drain = OutputDrain(1000)
    for _ in range(20):
        os.write(drain.write_fd, b"x" * 10_000)
    os.write(drain.write_fd, b"the end")
    assert drain.take() == "x" * 1000 + "\n… cut here: it printed 200,007 bytes"
    assert not drain.flooded.is_set()
    for _ in range(30):
        os.write(drain.write_fd, b"x" * 10_000)
    os.write(drain.write_fd, b"the end")
    assert drain.finish().endswith("the end")
    assert drain.flooded.is_set()


def test_each_case_has_room_of_its_own() -> None:
    drain = OutputDrain(10)
    for _ in range(1000):
        os.write(drain.write_fd, b"x" * 10)
        assert drain.take() == "x" * 10
    assert not drain.flooded.is_set()


def test_what_is_printed_is_taken_once() -> None:
    drain = OutputDrain(8)
    os.write(drain.write_fd, b"one\n")
    assert drain.take() == "one\n"
    assert drain.take() == ""
    os.write(drain.write_fd, b"two\nthree\n")
    assert drain.finish() == "two\nthree\n"
    assert drain.take() == "two\nthre\n… cut here: it printed 10 bytes"
    assert drain.take() == ""
