"""What a panel is made of: words, buttons, boxes to tick. Values of Python, no widgets.

Each ipywidgets control is two or three models, and each model is a message that a slow machine can
lose. A `Surface` is one model that shows a whole tree of these parts, and hears of what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, ClassVar

from traitlets import Any as AnyValue
from traitlets import (
    Bool,
    Dict,
    HasTraits,
    Instance,
    Int,
    TraitError,
    TraitType,
    Tuple,
    Unicode,
    observe,
    validate,
)

_IDS = count(1)
Told = Callable[["Element", str], None]
"""Hears which trait of which part has changed."""


class Style:
    """How a part lies: CSS by its names, with ``_`` for ``-``. What is not set is None."""

    def __init__(self, **styles: str) -> None:
        self.__dict__.update(styles=styles, changed=lambda: None)

    def __getattr__(self, name: str) -> str | None:
        found: str | None = self.__dict__["styles"].get(name)
        return found

    def __setattr__(self, name: str, value: str) -> None:
        if self.__dict__["styles"].get(name) != value:
            self.__dict__["styles"][name] = value
            self.__dict__["changed"]()

    @property
    def css(self) -> dict[str, str]:
        """As a page reads it."""
        return {name.replace("_", "-"): value for name, value in self.__dict__["styles"].items()}


def _shown(trait: TraitType[Any, Any]) -> TraitType[Any, Any]:
    """A trait that the page is told of."""
    return trait.tag(page=True)


class Element(HasTraits):
    """One element of a panel. `kind` is the name under which the page knows how to draw it."""

    kind: ClassVar[str]
    heeds: ClassVar[tuple[str, ...]] = ()
    """The traits that a page may set."""
    layout = Instance(Style)
    classes: Any = _shown(Tuple())
    tooltip: Any = _shown(Unicode())

    def __init__(self, layout: Style | None = None, **traits: Any) -> None:
        self.id = f"p{next(_IDS)}"
        self.tell: Told | None = None
        super().__init__(layout=layout or Style(), **traits)

    @observe("layout")
    def _laid(self, change: dict[str, Any]) -> None:
        change["new"].__dict__["changed"] = lambda: self._told("style")
        self._told("style")

    def notify_change(self, change: Any) -> None:
        """As traitlets has it, and the surface hears of it too."""
        super().notify_change(change)
        if self.trait_metadata(change["name"], "page"):
            self._told(change["name"])

    def _told(self, name: str) -> None:
        tell = getattr(self, "tell", None)
        if tell is not None:
            tell(self, name)

    def add_class(self, name: str) -> None:
        """Give it another CSS class."""
        if name not in self.classes:
            self.classes = (*self.classes, name)

    def remove_class(self, name: str) -> None:
        """Take a CSS class from it."""
        self.classes = tuple(other for other in self.classes if other != name)

    @property
    def inside(self) -> tuple[Element, ...]:
        """The parts in it."""
        return ()

    def everything(self) -> Iterator[Element]:
        """It, and all that is in it."""
        yield self
        for part in self.inside:
            yield from part.everything()

    def described(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Its traits as the page reads them: all, or those of these names."""
        if names is None:
            names = (*self.trait_names(page=True), "style")
            return {"kind": self.kind, **{name: self._said(name) for name in names}}
        return {name: self._said(name) for name in names}

    def _said(self, name: str) -> Any:
        return self.layout.css if name == "style" else getattr(self, name)

    def heard(self, name: str, value: Any) -> None:
        """The reader has set a trait."""
        if name in self.heeds:
            setattr(self, name, value)


class Container(Element):
    """Other parts, side by side or one under the other as its layout says."""

    kind = "box"
    children: Any = _shown(Tuple())

    @property
    def inside(self) -> tuple[Element, ...]:
        found: tuple[Element, ...] = self.children
        return found

    def _said(self, name: str) -> Any:
        return [part.id for part in self.children] if name == "children" else super()._said(name)


class Html(Element):
    """HTML."""

    kind = "words"
    value: Any = _shown(Unicode())


class Folding(Html):
    """HTML whose ``<details>``, each with its own ``data-path``, stay unfolded when it changes."""

    kind = "folding"


class Button(Element):
    """Calls its action when it is pressed."""

    kind = "button"
    description: Any = _shown(Unicode())
    disabled: Any = _shown(Bool(False))
    button_style: Any = _shown(Unicode())
    """``"primary"`` for the one that is pressed most."""

    def __init__(self, action: Callable[[], None], **traits: Any) -> None:
        self.click = action
        super().__init__(**traits)

    def heard(self, name: str, _value: Any) -> None:
        """A press; one that was on its way when the button was switched off comes too late."""
        if name == "press" and not self.disabled:
            self.click()


class _Control(Element):
    """A part with a value that the reader sets; `description` is its label."""

    heeds: ClassVar[tuple[str, ...]] = ("value",)
    description: Any = _shown(Unicode())
    disabled: Any = _shown(Bool(False))


class ToggleButton(_Control):
    """A button that stays pressed."""

    kind = "toggle"
    value: Any = _shown(Bool(False))


class Checkbox(_Control):
    """A box to tick."""

    kind = "checkbox"
    value: Any = _shown(Bool(False))


class Text(_Control):
    """A line to write."""

    kind = "text"
    value: Any = _shown(Unicode())
    placeholder: Any = _shown(Unicode())


class WholeNumber(_Control):
    """A number to write; its value stays between `min` and `max`, also when these change."""

    kind = "number"
    min: Any = _shown(Int(0))
    max: Any = _shown(Int(100))
    value: Any = _shown(Int(0))

    @validate("value")
    def _within(self, proposal: dict[str, Any]) -> int:
        within: int = max(self.min, min(proposal["value"], self.max))
        return within

    @observe("min", "max")
    def _clip(self, _change: dict[str, Any]) -> None:
        self.value = max(self.min, min(self.value, self.max))

    def heard(self, name: str, value: Any) -> None:
        """A number, if it is one."""
        if name == "value" and isinstance(value, int | float):
            self.value = int(value)


class Slider(WholeNumber):
    """Drawn as a line with a handle, and the number beside it."""

    kind = "slider"
    max: Any = _shown(Int(1))


class Player(WholeNumber):
    """Counts from its value to `max` in the page, by itself, while it is `playing`. Invisible."""

    kind = "player"
    heeds: ClassVar[tuple[str, ...]] = ("value", "playing")
    interval: Any = _shown(Int(1_000))
    """Milliseconds from one number to the next."""
    playing: Any = _shown(Bool(False))

    def heard(self, name: str, value: Any) -> None:
        """Where it is now, or that it came to its end."""
        if name == "playing":
            self.playing = bool(value)
        else:
            super().heard(name, value)


class _Choice(_Control):
    """One of `options`: words alone, or pairs of words and what they stand for.

    The value is None while nothing is chosen. A page knows both by their places.
    """

    options: Any = _shown(Tuple())
    value: Any = _shown(AnyValue(None, allow_none=True))
    first_is_chosen: ClassVar[bool] = False

    @property
    def _values(self) -> list[Any]:
        return [option[1] if isinstance(option, tuple) else option for option in self.options]

    @observe("options")
    def _offered(self, _change: dict[str, Any]) -> None:
        values = self._values
        if self.value not in values:
            self.value = values[0] if self.first_is_chosen and values else None

    @validate("value")
    def _offers(self, proposal: dict[str, Any]) -> Any:
        value = proposal["value"]
        if value is not None and value not in self._values:
            raise TraitError(f"{value!r} is not among the options {self.options}")
        return value

    @property
    def label(self) -> str | None:
        """The words of what is chosen."""
        found: list[str] = self._said("options")
        return None if self.value is None else found[self._said("value")]

    @label.setter
    def label(self, words: str) -> None:
        self.value = self._values[self._said("options").index(words)]

    def _said(self, name: str) -> Any:
        if name == "options":
            return [
                str(option[0] if isinstance(option, tuple) else option) for option in self.options
            ]
        if name == "value":
            return None if self.value is None else self._values.index(self.value)
        return super()._said(name)

    def heard(self, name: str, value: Any) -> None:
        """The place of what was chosen; one that is no longer there comes too late."""
        if name == "value" and isinstance(value, int) and 0 <= value < len(self.options):
            self.value = self._values[value]


class Dropdown(_Choice):
    """A menu; the first option is chosen until another one is."""

    kind = "dropdown"
    first_is_chosen = True


class Radio(_Choice):
    """All choices visible, none chosen at first. `description` names the group."""

    kind = "radio"


class Listed(_Choice):
    """A list in which one entry can be chosen."""

    kind = "list"
    first_is_chosen = True


class Upload(_Control):
    """Takes a file; `value` holds what was chosen, as dicts with a name and its content."""

    kind = "upload"
    accept: Any = _shown(Unicode())
    value: Any = Tuple()

    def heard(self, name: str, value: Any) -> None:
        """A file: its name, and its bytes."""
        if name == "file":
            self.value = (value,)


class Guide(Element):
    """Hears which step a link or a search in the page leads to. Invisible.

    `play` is the name of the play, as links to its steps have it: ``#kafka-14139-step-6``; `at` is
    the step one stands on, and `run` another number whenever the run is another.
    """

    kind = "guide"
    play: Any = _shown(Unicode())
    at: Any = _shown(Int(0))
    run: Any = _shown(Int(0))

    def __init__(self, go: Callable[[dict[str, Any]], None]) -> None:
        self._go = go
        super().__init__()

    def heard(self, name: str, value: Any) -> None:
        """The number of a step, and what asks for it."""
        if name == "go":
            self._go(value)


class Finder(Element):
    """A line to look for words in what a panel tells; it is done in the page."""

    kind = "finder"


class PlotlyPicture(Element):
    """A figure as plotly's data and layout, in plain dicts and lists."""

    kind = "picture"
    drawing: Any = _shown(Dict())

    def __init__(self, drawing: dict[str, Any]) -> None:
        super().__init__(drawing=drawing)

    def paint(self, drawing: dict[str, Any]) -> None:
        """Show another drawing in place of this one."""
        self.drawing = drawing


class Scale(Slider):
    """`words` says what stands at each position, from 0 on; they are read aloud, too."""

    kind = "scale"
    words: Any = Tuple().tag(page=True)

    @property
    def said(self) -> str:
        """The words of where it stands."""
        return str(self.words[self.value])
