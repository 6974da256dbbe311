"""Describes the calls of a case by all that decides what they cost besides ``solve``, whatever the pack.

That is the number and kinds of arguments, the size of each buffer and how it is made, and how ``solve`` is built.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from judge.packs.data.inputs import input_recipes
from judge.packs.pack import Case, Pack
from judge.packs.sizes import array_shape, buffer_bytes
from judge.wire.recipe import Recipe


def call_form(pack: Pack, case: Case) -> tuple[Any, ...]:
    """Returns numbers, texts and tuples of them: cases for which these are equal have the same null kernel's times.

    Names and secret keys are no part of it, nor what a scalar is: an empty ``solve`` reads none.
    """
    recipes = input_recipes(pack, case, 0)
    arguments = tuple(
        (
            argument.role,
            argument.c_type,
            argument.element.name,
            argument.initial,
            *((buffer_bytes(case, argument), array_shape(case, argument)) if argument.is_pointer else ()),
            _without_keys(recipes[argument.name]) if argument.is_input else None,
        )
        for argument in pack.arguments
    )
    return repr(pack.build), arguments


def _without_keys(recipe: Recipe | None) -> str:
    """Returns how a device makes an input; the host makes one without a recipe."""
    if recipe is None:
        return "host"
    sentinels = recipe.sentinels and dataclasses.replace(recipe.sentinels, key=(0, 0))
    zeros = recipe.zeros and dataclasses.replace(recipe.zeros, key=(0, 0))
    return repr(dataclasses.replace(recipe, key=(0, 0), sentinels=sentinels, zeros=zeros, changes=None))
