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


def parameter_lines() -> Iterator[str]:
    """The table of parameters for a terminal: of each its unit, range, meaning, default, source."""
    for name, about in PARAMETERS.items():
        yield f"{name} = {_value(about.default)}"
        text = f"{about.does} [{_range(about)}] {about.basis.capitalize()}: {about.source}"
        yield from (f"    {line}" for line in wrap(text, _WIDTH - 4))


def _lines(study: FleetStudy) -> Iterator[str]:
    yield f"about = {_value(study.about)}"
    yield f"feature_sets = {_value([*study.feature_sets])}"
    yield "\n[parameters]"
    for name, several in study.values:
        about = PARAMETERS[name]
        yield from (f"# {line}" for line in wrap(_said(about), _WIDTH))
        yield f"{name} = {_value(several[0] if len(several) == 1 else [*several])}\n"


def _said(about: Parameter) -> str:
    return f"{about.does} [{_range(about)}; default {_value(about.default)}, {about.basis}]"


def _range(about: Parameter) -> str:
    span = "" if about.kind is bool else f", {about.low:,.10g} to {about.high:,.10g}"
    return f"{about.unit}{span}"


def _value(value: Any) -> str:
    """JSON's texts, numbers, booleans and lists are TOML's too, for what stands in a study."""
    return msgspec.json.encode(value).decode()
