"""Many comparisons at once: the level of each, so that all of them hold together."""


def level_of_each(joint: float, comparisons: int) -> float:
    """The confidence that each of so many needs for `joint` to hold of all, by Bonferroni.

    Raises ValueError for a level that is none, or no comparison.
    """
    if not 0 < joint < 1 or comparisons < 1:
        problem = f"a joint level of {joint:g} over {comparisons} comparisons"
        raise ValueError(f"{problem}; expected a level between 0 and 1, over 1 or more")
    return 1 - (1 - joint) / comparisons
