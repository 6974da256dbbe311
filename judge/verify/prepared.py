"""The inputs and right outputs of cases, made once for all checks of a verification."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.packs import sizes
from judge.packs.data.inputs import Inputs, make_inputs
from judge.packs.judging import Checker, make_checker, reference_outputs
from judge.packs.pack import Case, Pack

Outputs = dict[str, npt.NDArray[Any]]

#: Fixed, so that authors can reproduce a finding with the same inputs.
SEED = 1


class PreparedCase:
    """A case with its inputs for one seed. Makes slow parts when first asked for. Raises what the pack's code does.

    The inputs cannot be written to, so that a reference that changes them fails.
    """

    def __init__(self, pack: Pack, case: Case, seed: int = SEED) -> None:
        self.pack = pack
        self.case = case
        self.seed = seed

    @functools.cached_property
    def inputs(self) -> Inputs:
        made = make_inputs(self.pack, self.case, self.seed)
        for value in made.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return made

    @functools.cached_property
    def right(self) -> Outputs:
        """The reference's results, rounded to the types of the outputs."""
        return right_outputs(self.pack, self.case, self.inputs)

    @functools.cached_property
    def check(self) -> Checker:
        return make_checker(self.pack, self.case, self.inputs)

    @property
    def elements(self) -> int:
        """The elements of all arrays together."""
        arrays = (*self.inputs.values(), *self.right.values())
        return sum(array.size for array in arrays if isinstance(array, np.ndarray))


def right_outputs(pack: Pack, case: Case, inputs: Inputs) -> Outputs:
    """Returns the reference's results for these inputs, in the shapes and types of the outputs."""
    made = reference_outputs(pack, case, inputs)
    with np.errstate(over="ignore", invalid="ignore"):
        return {
            output.name: np.ascontiguousarray(
                np.asarray(made[output.name]).astype(output.dtype).reshape(sizes.shape(case, output))
            )
            for output in pack.outputs
        }
