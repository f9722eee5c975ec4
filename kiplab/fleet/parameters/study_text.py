"""A study written as the TOML that reads back to it: every parameter, with unit and meaning."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import msgspec

from .fleet_study import FleetStudy
from .parameter_table import PARAMETERS, Parameter

_WIDTH = 96


def written(study: FleetStudy) -> str:
    """TOML that says everything, defaults too."""
    return "\n".join(_lines(study)) + "\n"


def _lines(study: FleetStudy) -> Iterator[str]:
    yield f"about = {toml_value(study.about)}"
    yield f"feature_sets = {toml_value([*study.feature_sets])}"
    yield "\n[parameters]"
    for name, several in study.values:
        about = PARAMETERS[name]
        yield from (f"# {line}" for line in wrap(_said(about), _WIDTH))
        yield f"{name} = {toml_value(several[0] if len(several) == 1 else [*several])}\n"


def _said(about: Parameter) -> str:
    return (
        f"{about.does} [{range_words(about)}; default {toml_value(about.default)}, {about.basis}]"
    )


def range_words(about: Parameter) -> str:
    """The unit, and what is allowed."""
    span = "" if about.kind is bool else f", {about.low:,.10g} to {about.high:,.10g}"
    return f"{about.unit}{span}"


def toml_value(value: Any) -> str:
    """JSON's texts, numbers, booleans and lists are TOML's too, for what stands in a study."""
    return msgspec.json.encode(value).decode()
