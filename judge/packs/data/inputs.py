"""Makes the inputs of one call of ``solve``.

The same seed and call give the same bits; another seed, or another ``call`` (a timed call, say), gives other contents.
``like`` asks for a near copy of an earlier call's inputs: what the pack's ``make_inputs`` makes and what files hold
stays the same (if anything else differs), what is drawn differs in a few elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.packs import sizes
from judge.packs.collection.pool import ALIGNMENT_BYTES, Pool, mixes
from judge.packs.data.data_files import rows_of_file
from judge.packs.data.distributions import FromFile, varies
from judge.packs.data.lazy_array import real_arrays
from judge.packs.data.lazy_input import LazyInput
from judge.packs.data.recipes import input_recipe
from judge.packs.data.storage import stored, value_type, values_of
from judge.packs.data.streams import Stream
from judge.packs.errors import PackError
from judge.packs.form.argument import Argument
from judge.packs.isolation.calls import runs_pack_code
from judge.packs.pack import Case, Pack
from judge.wire.recipe import Recipe

Array = npt.NDArray[np.generic]
Inputs = dict[str, Any]


def make_inputs(
    pack: Pack, case: Case, seed: int, call: int = 0, *, like: int | None = None, threads: int | None = None
) -> Inputs:
    """Returns every in, inout and scalar argument by name, in order of the signature.

    They are arrays (C order) and NumPy scalars. ``threads`` bounds how many threads work; None allows one for each
    processor.
    """
    return real_arrays(lazy_inputs(pack, case, seed, call, like=like, threads=threads))


def lazy_inputs(
    pack: Pack,
    case: Case,
    seed: int,
    call: int = 0,
    *,
    like: int | None = None,
    threads: int | None = None,
    pool: Pool | None = None,
) -> Inputs:
    """Returns the same as :func:`make_inputs` with a LazyInput, made only where it is read, for each declared input.

    ``pool`` is what the inputs of a timed call are mixed with.
    """
    values: Inputs = scalar_values(pack, case) | host_inputs(pack, case, seed, call, like=like)
    recipes = input_recipes(pack, case, seed, call, like=like, pooled=pool is not None)
    for argument in pack.inputs:
        if (recipe := recipes[argument.name]) is not None:
            values[argument.name] = LazyInput(recipe, sizes.shape(case, argument), threads, pool)
    return {argument.name: values[argument.name] for argument in pack.arguments if argument.role != "out"}


def scalar_values(pack: Pack, case: Case) -> dict[str, np.generic]:
    """Returns the arguments that go by value."""
    return {
        argument.name: argument.dtype.type(argument.value.evaluate(case.variables))
        for argument in pack.arguments
        if argument.value is not None
    }


def host_inputs(pack: Pack, case: Case, seed: int, call: int = 0, *, like: int | None = None) -> dict[str, Array]:
    """Returns the inputs without a recipe: what ``make_inputs`` makes, what files hold, and what a user typed."""
    coded = any(case.distribution(each) is None and each.name not in case.typed for each in pack.inputs)
    made = _of_make_inputs(pack, case, seed, call, like) if coded and pack.reference.defines("make_inputs") else {}
    typed = {
        argument.name: _rounded(argument, np.array(case.typed[argument.name])).reshape(sizes.shape(case, argument))
        for argument in pack.inputs
        if argument.name in case.typed
    }
    return made | _from_files(pack, case, seed, call, like) | typed


def _from_files(pack: Pack, case: Case, seed: int, call: int, like: int | None) -> dict[str, Array]:
    source = like if like is not None and _any_recipe_varies(pack, case) else call
    return {
        argument.name: _rounded(
            argument, rows_of_file(data, sizes.shape(case, argument), Stream(seed, case.id, argument.name, source))
        )
        for argument in pack.inputs
        if isinstance(data := case.distribution(argument), FromFile)
    }


def _of_make_inputs(pack: Pack, case: Case, seed: int, call: int, like: int | None) -> dict[str, Array]:
    made = _made_by_pack(pack, case, seed, call, like)
    wanted = {each.name: (sizes.shape(case, each), value_type(each.element)) for each in pack.inputs}
    if not isinstance(made, dict) or any(
        name not in wanted or not isinstance(array, np.ndarray) or (array.shape, array.dtype) != wanted[name]
        for name, array in made.items()
    ):
        raise PackError(pack.reference.path, "make_inputs", "sends what are not inputs of its challenge")
    return made


@runs_pack_code
def _made_by_pack(pack: Pack, case: Case, seed: int, call: int, like: int | None) -> dict[str, Array]:
    assert pack.reference.make_inputs is not None
    source = like if like is not None and _any_recipe_varies(pack, case) else call
    generator = Stream(seed, case.id, "make_inputs", source).generator()
    made = pack.reference.make_inputs(generator, **case.axes, **case.parameters)
    return {
        argument.name: _rounded(argument, made[argument.name]).reshape(sizes.shape(case, argument))
        for argument in pack.inputs
        if argument.name in made
    }


def input_recipes(
    pack: Pack, case: Case, seed: int, call: int = 0, *, like: int | None = None, pooled: bool = False
) -> dict[str, Recipe | None]:
    """Returns how a device makes each in and inout argument; None for those that :func:`host_inputs` makes.

    ``pooled`` mixes them with a pool of at least :func:`pool_bytes`, in which each has a part of its own.
    """
    recipes: dict[str, Recipe | None] = {}
    pool_at = 0
    for argument in pack.inputs:
        declared = None if argument.name in case.typed else case.distribution(argument)
        recipe = (
            None
            if declared is None or isinstance(declared, FromFile)
            else input_recipe(
                declared,
                argument.element,
                sizes.shape(case, argument),
                Stream(seed, case.id, argument.name, call),
                like,
                variables=case.variables,
            )
        )
        if pooled and recipe is not None and mixes(recipe):
            recipe = replace(recipe, pool=pool_at)
            pool_at += _pool_part_bytes(case, argument)
        recipes[argument.name] = recipe
    return recipes


def _rounded(argument: Argument, values: Any) -> Array:
    """Returns values in the argument's type, and as exactly as that type holds them."""
    return np.ascontiguousarray(values_of(argument.element, stored(argument.element, values)))


def pool_bytes(pack: Pack, case: Case) -> int:
    """Returns the size of the pool that the case's inputs take: that of those which are mixed with it."""
    recipes = input_recipes(pack, case, 0)
    mixed = (argument for argument in pack.inputs if (recipe := recipes[argument.name]) is not None and mixes(recipe))
    return sum(_pool_part_bytes(case, argument) for argument in mixed)


def _pool_part_bytes(case: Case, argument: Argument) -> int:
    return -(-sizes.buffer_bytes(case, argument) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _any_recipe_varies(pack: Pack, case: Case) -> bool:
    declared = ((case.distribution(argument), sizes.shape(case, argument)) for argument in pack.inputs)
    return any(each is not None and not isinstance(each, FromFile) and varies(each, shape) for each, shape in declared)
