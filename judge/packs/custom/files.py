"""Finds the inputs that come from files of the challenge, where a user chooses the sizes.

Their contents cannot be chosen, and no size may need more than a file has.
"""

from __future__ import annotations

from collections.abc import Collection

from judge.packs import sizes
from judge.packs.custom.contents import shape_in_words
from judge.packs.data.distributions import FromFile
from judge.packs.pack import Case, Pack


def file_inputs(pack: Pack, case: Case) -> dict[str, FromFile]:
    """Returns the inputs of a case that come from files, by name."""
    declared = ((argument.name, case.distribution(argument)) for argument in pack.inputs)
    return {name: data for name, data in declared if isinstance(data, FromFile)}


def files_too_small(pack: Pack, case: Case, chosen: Collection[str]) -> dict[str, str]:
    """Returns, by the chosen sizes that are to blame, what a file of the challenge does not have for the case."""
    arguments = {argument.name: argument for argument in pack.inputs}
    for name, data in file_inputs(pack, case).items():
        if not data.holds(shape := sizes.shape(case, arguments[name])):
            has, needs = shape_in_words(data.shape), shape_in_words(shape)
            told = f"{name} comes from a file with {has} elements, and {needs} would be needed"
            names = set[str]().union(*(extent.names for extent in arguments[name].shape))
            return dict.fromkeys([at for at in chosen if at in names] or sorted(names), told)
    return {}
