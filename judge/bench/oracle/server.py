"""``python -m judge.bench.oracle.server FD ORDINAL``: the oracle's process. It answers until its socket closes.

The pack's code runs here with CuPy under NumPy's name, and may do what it may do in a pack's process: neither write
files nor use the network nor start processes. GPU nodes stay usable.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from judge.bench.oracle.process import OPENED
from judge.bench.oracle.questions import NOT_RIGHT, READY, RIGHT, UNABLE, Begin, Question, Rest
from judge.packs import sizes
from judge.packs.data.inputs import host_inputs, input_recipes, scalar_values
from judge.packs.data.storage import decoder, stored_type
from judge.packs.form.argument import Argument
from judge.packs.isolation.locks import lock_down_gpu
from judge.packs.isolation.messages import receive_trusted, send_answer
from judge.packs.pack import Case, Pack

_SEED = 1
#: A file that says that the kernels of the benchmark are kept.
_REHEARSED = "rehearsed"


def main(argv: list[str]) -> None:
    """Opens the GPU ``argv[1]`` and answers messages of the socket ``argv[0]`` until it closes, or the first error."""
    channel = socket.socket(fileno=int(argv[0]))
    problem = _open(int(argv[1]))
    if not problem:
        os.write(sys.stdout.fileno(), OPENED)
    # Nobody reads what the pack's code prints.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    begin = receive_trusted(channel, lambda _: None)
    if begin is None:
        return
    try:
        if problem:
            raise RuntimeError(problem)
        # Here CuPy keeps what it compiles, and nothing else can be written.
        os.chdir(begin.folder)
        os.environ["TMPDIR"] = tempfile.tempdir = str(begin.folder)
        answering = Answering(begin)
    except Exception as error:
        send_answer(channel, (UNABLE, problem or f"{type(error).__name__}: {error}"))
        return
    send_answer(channel, (READY, ""))
    while (message := receive_trusted(channel, lambda _: None)) is not None:
        try:
            send_answer(channel, answering.rest() if isinstance(message, Rest) else answering.answer(message))
        except OSError:
            raise
        except Exception as error:
            send_answer(channel, (UNABLE, f"{type(error).__name__}: {error}"))
            return


def _open(ordinal: int) -> str:
    """Imports CuPy and opens the GPU. Returns why that fails; empty if it does not."""
    try:
        import cupy

        from judge.bench.oracle import gpu, numpy_on_gpu

        del gpu, numpy_on_gpu
        cupy.cuda.Device(ordinal).use()
        # Libraries open what they need of the device at their first use.
        one = cupy.ones((16, 16), np.float64)
        cupy.asnumpy(one @ one + cupy.fft.fft(one).real)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


class Answering:
    """Computes and compares. Raises what CuPy, or the pack's reference with it, raises."""

    def __init__(self, begin: Begin) -> None:
        import cupy

        from judge.bench.oracle import gpu, numpy_on_gpu

        self._pack: Pack = begin.pack
        self._cupy, self._numbers = cupy, gpu.numbers
        self._gpu = gpu.Gpu(begin.ordinal, begin.kernels)
        lock_down_gpu(begin.folder)
        check = Path(__file__).resolve().parents[2] / "check"
        self._long_pieces = numpy_on_gpu.long_pieces
        self._laws = numpy_on_gpu.load(check / "tolerance.py", "oracle_tolerance")
        self._comparing = numpy_on_gpu.load(check / "compare.py", "oracle_compare")
        self._reference = numpy_on_gpu.load(begin.pack.reference.path, "oracle_reference")
        self._decoder = functools.cache(lambda narrow: cupy.asarray(decoder(narrow)))
        if begin.rehearsal is not None:
            self._rehearse(begin.rehearsal)
        done = begin.folder / _REHEARSED
        if begin.benchmark is not None and not done.exists():
            self._rehearse(begin.benchmark)
            with contextlib.suppress(OSError):
                done.touch()

    def rest(self) -> tuple[str, str]:
        """Frees all memory."""
        self._gpu.free()
        return READY, ""

    def answer(self, question: Question) -> tuple[str, str]:
        pack, case = self._pack, question.case
        outputs = {name: self._gpu.upload(array) for name, array in question.outputs.items()}
        for (name, output), digest in zip(outputs.items(), question.digests, strict=False):
            if self._gpu.digest(output) != digest:
                return NOT_RIGHT, f"{name} is not what was committed"
        expected = self._expected(case, self._inputs(question))
        for output in pack.outputs:
            if not self._is_right(output, expected[output.name], outputs[output.name]):
                return NOT_RIGHT, output.name
        return RIGHT, ""

    def _is_right(self, output: Argument, want: Any, stored: Any) -> bool:
        return self._agree(want, self._numbers(output.element, stored, self._decoder).reshape(want.values.shape))

    def _inputs(self, question: Question) -> dict[str, Any]:
        inputs: dict[str, Any] = {}
        for argument in self._pack.arguments:
            name = argument.name
            if argument.role == "out":
                continue
            recipe = question.recipes.get(name)
            if recipe is not None:
                drawn = self._gpu.draw(recipe, sizes.shape(question.case, argument), question.pool)
                inputs[name] = self._numbers(argument.element, drawn, self._decoder)
            else:
                given = question.given[name]
                inputs[name] = self._gpu.upload(given) if argument.is_pointer else given
        return inputs

    def _expected(self, case: Case, inputs: dict[str, Any]) -> dict[str, Any]:
        """Returns the result of ``judge.packs.judging.expected_outputs``, on the GPU."""
        try:
            with self._long_pieces(self._reference):
                return self._computed(case, inputs)
        except MemoryError:
            self._gpu.free()
            return self._computed(case, inputs)

    def _computed(self, case: Case, inputs: dict[str, Any]) -> dict[str, Any]:
        values = self._by_output(self._reference.reference(**inputs))
        has_magnitude = hasattr(self._reference, "magnitude")
        magnitudes = self._by_output(self._reference.magnitude(**inputs)) if has_magnitude else {}
        return {
            output.name: self._expected_of(case, output, values[output.name], magnitudes.get(output.name))
            for output in self._pack.outputs
        }

    def _expected_of(self, case: Case, output: Argument, values: Any, magnitude: Any) -> Any:
        rule, shape = output.tolerance, sizes.shape(case, output)
        assert rule is not None
        if rule.kind == "exact":
            return self._laws.Expected(self._cupy.asarray(values).reshape(shape), None)
        terms = float(rule.terms.evaluate(case.variables))
        law = self._laws.Tolerance(rule.kind, rule.accumulate, terms, rule.absolute, rule.relative)
        wanted = self._cupy.asarray(values, np.float64).reshape(shape)
        scale = None if magnitude is None else self._cupy.asarray(magnitude, np.float64).reshape(shape)
        bound = law.bound(wanted, scale, output.element.facts.narrow or output.dtype)
        return self._laws.Expected(wanted, bound, law.common)

    def _agree(self, want: Any, got: Any) -> bool:
        """Returns whether ``judge.check.compare.compare`` would find nothing."""
        comparing = self._comparing
        if want.common and self._is_near(comparing._rescaled(want, got), got):
            return True
        return self._is_near(want, got)

    def _is_near(self, want: Any, got: Any) -> bool:
        bound = None if want.bound is None else want.bound.reshape(-1)
        wrong = self._comparing._wrong(want.values.reshape(-1), got.reshape(-1), bound)
        return not wrong.size

    def _by_output(self, result: Any) -> dict[str, Any]:
        return result if isinstance(result, dict) else {self._pack.outputs[0].name: result}

    def _rehearse(self, case: Case) -> None:
        """Computes a case and compares its outputs with those that it takes for right, as far as a cast makes them."""
        pack = self._pack
        given = scalar_values(pack, case) | host_inputs(pack, case, _SEED)
        expected = self._expected(case, self._inputs(Question(case, input_recipes(pack, case, _SEED), given, {})))
        for output in pack.outputs:
            kind, want = stored_type(output.element), expected[output.name]
            narrow = output.element.facts.narrow is not None
            self._is_right(output, want, (want.values * 0 if narrow else want.values).astype(kind))
        self.rest()


if __name__ == "__main__":
    main(sys.argv[1:])
