"""A study of a fleet as a file: TOML in, a grid of scenarios out, and back to TOML."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec

from ..kernel.mirrored_guards import FEATURE_SETS
from .parameter_checks import ParameterError, check_name, values_of
from .parameter_table import PARAMETERS, Parameter, Parameters
from .scenario import Scenario, check_kip_set

_FOLDER = files(__package__) / "presets"
_ENDING = ".toml"
_KEYS = ("about", "feature_sets", "kafka", "parameters")
_MOST_POINTS = 10_000
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)")
_AT_END = re.compile(r"\s*\(at end of document\)")


class FleetStudy(msgspec.Struct, frozen=True, kw_only=True):
    """Fleets that differ in the parameters that are swept.

    `values` has every parameter in the order of the table, each with its one value or its several.
    """

    about: str
    feature_sets: tuple[str, ...]
    values: tuple[tuple[str, tuple[Any, ...]], ...]

    @property
    def swept(self) -> tuple[str, ...]:
        """The parameters with more than one value."""
        return tuple(name for name, several in self.values if len(several) > 1)

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Every combination of values; the last parameter that is swept changes fastest.

        Raises ParameterError where values contradict each other.
        """
        points = product(*(several for _, several in self.values))
        every = (Parameters(**dict(zip(dict(self.values), point, strict=True))) for point in points)
        return tuple(Scenario(feature_sets=self.feature_sets, parameters=p) for p in every)


def presets() -> tuple[str, ...]:
    """The names of the studies that come with kiplab."""
    names = (path.name for path in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def read_study(where: str | Path) -> FleetStudy:
    """A preset by name, or a TOML file. Raises ParameterError with file, line and key."""
    if str(where) in presets():
        return study_from((_FOLDER / f"{where}{_ENDING}").read_text("utf-8"), f"{where}{_ENDING}")
    try:
        source = Path(where).read_text("utf-8")
    except UnicodeDecodeError:
        allowed = "a study is a TOML file in UTF-8"
        raise ParameterError("it is no text", allowed=allowed, file=str(where)) from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        allowed = f"name a TOML file, or one of {', '.join(presets())}"
        raise ParameterError(reason, allowed=allowed, file=str(where)) from None
    return study_from(source, str(where))


def study_from(source: str, file: str = "") -> FleetStudy:
    """The study that a TOML text describes; `file` is what errors call it.

    Raises ParameterError with file, line and key for whatever is wrong with it.
    """
    try:
        document = tomllib.loads(source)
    except tomllib.TOMLDecodeError as problem:
        sentence, line = _told_line(str(problem), source)
        allowed = "a study is a TOML file: `key = value` in lines, parameters below [parameters]"
        raise ParameterError(sentence, allowed=allowed, line=line, file=file) from None
    try:
        return study_of(document)
    except ParameterError as wrong:
        line = _line_of(source, wrong.key) if wrong.key else 0
        raise wrong.placed(file=file, line=line) from None


def study_of(document: Mapping[str, Any]) -> FleetStudy:
    """The study of what a TOML file holds: about, feature_sets, kafka and parameters.

    A release in `kafka`, or several, is seen beside the feature sets, or alone if there are none.
    Raises ParameterError with the key for whatever is wrong with it.
    """
    for key in document:
        _check_key(key)
    releases = document.get("kafka", [])
    releases = releases if isinstance(releases, list) else [releases]
    named = document.get("feature_sets", [] if releases else [*FEATURE_SETS])
    named = [*named, *releases] if isinstance(named, list) else named
    study = FleetStudy(
        about=_text("about", document.get("about", "")),
        feature_sets=_feature_sets(named),
        values=_values(document.get("parameters", {})),
    )
    _check_size(study)
    _ = study.scenarios
    return study


def with_settings(study: FleetStudy, settings: Sequence[str]) -> FleetStudy:
    """The study with each ``"key=value"`` in place of its own value.

    A key is a parameter, `kafka` or `feature_sets`. A value is written as in TOML. Raises
    ParameterError for whatever is wrong with one.
    """
    values = {name: [*several] for name, several in study.values}
    document: dict[str, Any] = {**msgspec.to_builtins(study), "parameters": values}
    document["feature_sets"] = [*study.feature_sets]
    document["about"] = " ".join([study.about, *[f"With {', '.join(settings)}."] * bool(settings)])
    del document["values"]
    try:
        for setting in settings:
            _set(document, setting)
        return study_of(document)
    except ParameterError as wrong:
        raise wrong.placed(file="--set") from None


def _set(document: dict[str, Any], setting: str) -> None:
    key, is_set, value = (part.strip() for part in setting.partition("="))
    if not is_set:
        raise ParameterError("it has no value", allowed="as in brokers=12", key=key)
    if key in ("kafka", "feature_sets"):
        document["feature_sets"] = [name.strip() for name in value.split(",")]
    else:
        check_name(key)
        document["parameters"][key] = _as_toml(value)


def _as_toml(value: str) -> Any:
    """The value as TOML has it, the text itself where it is none."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _check_key(key: str) -> None:
    if key in PARAMETERS:
        raise ParameterError("it stands at the top", allowed="put it below [parameters]", key=key)
    if key == "mode":
        allowed = "leave it out, and see kiplab.fleet.zookeeper_rates for ZooKeeper"
        raise ParameterError("a study has none any more, it is KRaft's", allowed=allowed, key=key)
    check_name(key, _KEYS, "key")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{value!r} is no text", allowed="put it in quotes", key=key)
    return value


def _feature_sets(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        problem, allowed = f"{value!r} is no list of names", 'as in ["none", "841", "841+903"]'
        raise ParameterError(problem, allowed=allowed, key="feature_sets")
    names = (check_kip_set(_text("feature_sets", name)) for name in value)
    return tuple(dict.fromkeys(names))


def _values(value: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    if not isinstance(value, dict):
        allowed = "it is a table: [parameters], and `name = value` below"
        raise ParameterError(f"{value!r} is no table", allowed=allowed, key="parameters")
    for name in value:
        if name in _KEYS:
            allowed = "put it at the top, above [parameters]"
            raise ParameterError("it stands below [parameters]", allowed=allowed, key=name)
        check_name(name)
    defaults = {name: about.default for name, about in PARAMETERS.items()}
    return tuple((name, values_of(name, value.get(name, defaults[name]))) for name in PARAMETERS)


def _check_size(study: FleetStudy) -> None:
    points = 1
    for name, several in study.values:
        points *= len(several)
        if points > _MOST_POINTS:
            problem = (
                f"with its {len(several)} values the grid has more than {_MOST_POINTS:,} points"
            )
            raise ParameterError(problem, allowed="sweep less at once", key=name)


def _line_of(source: str, key: str) -> int:
    """The line, from 1, that gives `key` a value, be it as a table of its own; 0 if none does."""
    name = re.escape(key)
    pattern = re.compile(rf"""\s*(\[\s*([\w.]+\.)?["']?{name}["']?\s*\]|["']?{name}["']?\s*[=.])""")
    lines = enumerate(source.splitlines(), 1)
    return next((number for number, line in lines if pattern.match(line)), 0)


def _told_line(problem: str, source: str) -> tuple[str, int]:
    """What Python's TOML reader complains of, without the place, and the line."""
    match = _AT_LINE.search(problem)
    line = int(match[1]) if match else len(source.splitlines())
    return _AT_END.sub("", _AT_LINE.sub("", problem)), line


# --- as text --------------------------------------------------------------------------------------

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
        default = f"default {toml_value(about.default)}, {about.basis}"
        said = f"{about.does} [{range_words(about)}; {default}]"
        yield from (f"# {line}" for line in wrap(said, _WIDTH))
        yield f"{name} = {toml_value(several[0] if len(several) == 1 else [*several])}\n"


def range_words(about: Parameter) -> str:
    """The unit, and what is allowed."""
    span = "" if about.kind is bool else f", {about.low:,.10g} to {about.high:,.10g}"
    return f"{about.unit}{span}"


def toml_value(value: Any) -> str:
    """JSON's texts, numbers, booleans and lists are TOML's too, for what stands in a study."""
    return msgspec.json.encode(value).decode()
