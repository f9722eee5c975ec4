"""What a panel is made of: words, buttons, boxes to tick. Values of Python, no widgets.

Each ipywidgets control is two or three models, and each model is a message that a slow machine can
lose. A `Surface` is one model that shows a whole tree of these parts, and receives all user input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import get_annotations
from itertools import count
from typing import Any, ClassVar

_IDS = count(1)
Tell = Callable[["Element", str], None]
"""Receives which trait of which part has changed."""
Section = dict[str, Any]
"""``title``, ``rows`` under that heading and ``notes`` on others that are not there. A row says
what it does in words, the line that is written, and what it is about in a picture, named as in
`figures.timeline.places`.
"""


class Style:
    """How a part lies: CSS by its names, with ``_`` for ``-``. What is not set is None."""

    def __init__(self, **styles: str) -> None:
        self.__dict__.update(styles=styles, changed=lambda: None)

    def __getattr__(self, name: str) -> str | None:
        style: str | None = self.__dict__["styles"].get(name)
        return style

    def __setattr__(self, name: str, value: str) -> None:
        if self.__dict__["styles"].get(name) != value:
            self.__dict__["styles"][name] = value
            self.__dict__["changed"]()

    @property
    def css(self) -> dict[str, str]:
        return {name.replace("_", "-"): value for name, value in self.__dict__["styles"].items()}


class Element:
    """One element of a panel. `kind` is the name under which the page knows how to draw it.

    The annotated attributes of a class are its traits, which are sent to the page.
    """

    kind: ClassVar[str]
    heeds: ClassVar[tuple[str, ...]] = ()
    """The traits that a page may set."""
    traits: ClassVar[tuple[str, ...]] = ("classes", "tooltip")
    classes: tuple[str, ...] = ()
    tooltip: str = ""
    children: tuple[Any, ...] = ()
    """The parts in it: a trait of a `Container` alone."""

    def __init_subclass__(cls) -> None:
        hints = get_annotations(cls).items()
        own = (name for name, hint in hints if not hint.startswith("ClassVar"))
        cls.traits = (*cls.traits, *own)

    def __init__(self, layout: Style | None = None, **traits: Any) -> None:
        self.id = f"p{next(_IDS)}"
        self.tell: Tell | None = None
        self.watched: list[tuple[str, Callable[[Any], None]]] = []
        self.layout = layout or Style()
        # The value comes last: it has to fit the others.
        for name in sorted(traits, key="value".__eq__):
            setattr(self, name, traits[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "layout":
            value.__dict__["changed"] = lambda: self._changed("style")
            super().__setattr__(name, value)
            self._changed("style")
        elif name not in self.traits:
            super().__setattr__(name, value)
        elif (fit := self._fit(name, value)) != getattr(self, name, None):
            super().__setattr__(name, fit)
            self._follow(name)
            self._changed(name)
            for watched, action in self.watched:
                if watched == name:
                    action(fit)

    def _fit(self, _name: str, value: Any) -> Any:
        """What a trait becomes where it is set to a value."""
        return value

    def _follow(self, name: str) -> None:
        """Have other traits follow one that has changed."""

    def _changed(self, name: str) -> None:
        if self.tell is not None:
            self.tell(self, name)

    def add_class(self, name: str) -> None:
        if name not in self.classes:
            self.classes = (*self.classes, name)

    def everything(self) -> Iterator[Element]:
        yield self
        for part in self.children:
            yield from part.everything()

    def described(self, names: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Its traits as the page reads them: all, or those of these names."""
        if names is None:
            return {"kind": self.kind, **self.described((*self.traits, "style"))}
        return {name: self._as_read(name) for name in names}

    def _as_read(self, name: str) -> Any:
        return self.layout.css if name == "style" else getattr(self, name)

    def receive(self, name: str, value: Any) -> None:
        if name in self.heeds:
            setattr(self, name, value)


StepSheet = Iterable[tuple[Element, str, Any]]
"""What is shown at a step: parts, the trait of each, and its value."""


class Container(Element):
    """Other parts, side by side or one under the other as its layout says."""

    kind = "box"
    children: tuple[Any, ...] = ()

    def _as_read(self, name: str) -> Any:
        is_told = name == "children"
        return [part.id for part in self.children] if is_told else super()._as_read(name)


class Html(Element):
    """HTML."""

    kind = "words"
    value: str = ""


class Folding(Html):
    """HTML whose ``<details>``, each with its own ``data-path``, stay unfolded when it changes."""

    kind = "folding"


class Button(Element):
    """Calls its action when it is pressed."""

    kind = "button"
    description: str = ""
    disabled: bool = False
    button_style: str = ""
    """``"primary"`` for the one that is pressed most."""
    final: bool = False
    """Whether a press settles its whole panel: all in it is switched off until that is answered."""
    leads: str = ""
    """How a heading of the notebook begins, to which a press leads as well."""

    def __init__(self, action: Callable[[], None], **traits: Any) -> None:
        self.click = action
        super().__init__(**traits)

    def receive(self, name: str, value: Any) -> None:
        """A press, with where it led: too late if the button is off by now, or leads elsewhere."""
        if name == "press" and not self.disabled and (value or "") == self.leads:
            self.click()


class _Control(Element):
    """A part with a value that the reader sets; `description` is its label."""

    heeds: ClassVar[tuple[str, ...]] = ("value",)
    description: str = ""
    disabled: bool = False


class Checkbox(_Control):
    """A box to tick."""

    kind = "checkbox"
    value: bool = False


class ToggleButton(Checkbox):
    """A button that stays pressed."""

    kind = "toggle"


class Text(_Control):
    """A line to write."""

    kind = "text"
    value: str = ""
    placeholder: str = ""


class TextArea(_Control):
    """Several lines to write."""

    kind = "area"
    value: str = ""


class WholeNumber(_Control):
    """A number to write; its value stays between `min` and `max`, also when these change."""

    kind = "number"
    min: int = 0
    max: int = 100
    value: int = 0

    def _fit(self, name: str, value: Any) -> Any:
        return max(self.min, min(int(value), self.max)) if name == "value" else value

    def _follow(self, name: str) -> None:
        if name in ("min", "max"):
            self.value = self._fit("value", self.value)

    def receive(self, name: str, value: Any) -> None:
        if name != "value" or isinstance(value, int | float):
            super().receive(name, value)


class Slider(WholeNumber):
    """Drawn as a line with a handle, and the number beside it."""

    kind = "slider"
    max = 1


class Scale(Slider):
    """`words` says what stands at each position, from 0 on; they are read aloud, too."""

    kind = "scale"
    words: tuple[str, ...] = ()


class Player(WholeNumber):
    """Goes in the page from its value to `max`, by itself, while it is `playing`: from one of
    `stops` to the next, or counting where there are none. Invisible.
    """

    kind = "player"
    heeds: ClassVar[tuple[str, ...]] = ("value", "playing")
    interval: int = 1_000
    """Milliseconds from one number to the next."""
    playing: bool = False
    stops: tuple[int, ...] = ()


class _Choice(_Control):
    """One of `options`: words alone, or pairs of words and what they stand for.

    The value is None while nothing is chosen, and stays while it is offered. A page knows both by
    their places. Raises ValueError for a value that is not among the options.
    """

    options: tuple[Any, ...] = ()
    value: Any = None
    first_is_chosen: ClassVar[bool] = False

    @property
    def _values(self) -> list[Any]:
        return [option[1] if isinstance(option, tuple) else option for option in self.options]

    def _fit(self, name: str, value: Any) -> Any:
        if name == "options":
            return tuple(value)
        if name == "value" and value is not None and value not in self._values:
            raise ValueError(f"{value!r} is not among the options {self.options}")
        return value

    def _follow(self, name: str) -> None:
        if name == "options" and self.value not in self._values:
            self.value = self._values[0] if self.first_is_chosen and self.options else None

    def _as_read(self, name: str) -> Any:
        if name == "options":
            return [str(each[0] if isinstance(each, tuple) else each) for each in self.options]
        if name == "value":
            return None if self.value is None else self._values.index(self.value)
        return super()._as_read(name)

    def receive(self, name: str, value: Any) -> None:
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


class Ordered(_Control):
    """Things that the reader puts in order; `words` has what each is called, by name."""

    kind = "ordered"
    words: dict[str, str]
    value: tuple[str, ...] = ()

    def receive(self, name: str, value: Any) -> None:
        """All names in another order."""
        if name == "value" and sorted(value) == sorted(self.words):
            self.value = tuple(value)


class Upload(_Control):
    """Calls its action with the name of a file and its bytes."""

    kind = "upload"
    heeds = ()
    accept: str = ""

    def __init__(self, action: Callable[[str, bytes], None], **traits: Any) -> None:
        self._action = action
        super().__init__(**traits)

    def receive(self, name: str, value: Any) -> None:
        if name == "file":
            self._action(str(value["name"]), bytes(value["content"]))


class Guide(Element):
    """Receives the step that a link or a search in the page leads to. Invisible.

    `play` is the name of the play, as links to its steps have it: ``#kafka-14139-step-6``; `at` is
    the step one stands on, and `run` another number whenever the run is another.
    """

    kind = "guide"
    play: str = ""
    at: int = 0
    run: int = 0

    def __init__(self, go: Callable[[dict[str, Any]], None]) -> None:
        self._go = go
        super().__init__()

    def receive(self, name: str, value: Any) -> None:
        if name == "go":
            self._go(value)


class Finder(Element):
    """A field that searches the words of a panel; the search runs in the page."""

    kind = "finder"


class PlotlyPicture(Element):
    """A figure as plotly's data and layout, in plain dicts and lists."""

    kind = "picture"
    drawing: dict[str, Any]

    def __init__(self, drawing: dict[str, Any]) -> None:
        super().__init__(drawing=drawing)


class TouchedPicture(PlotlyPicture):
    """Calls `touched` with the name of what was clicked, or chosen by keyboard.

    The drawing holds the positions of things, in the ``places`` of its layout's ``meta``
    (`figures.timeline.places`); a page finds out alone what is clicked.
    """

    kind = "touched"

    def __init__(self, drawing: dict[str, Any], touched: Callable[[str], None]) -> None:
        self._touched = touched
        super().__init__(drawing)

    def receive(self, name: str, value: Any) -> None:
        if name == "touch" and isinstance(value, str):
            self._touched(value)


class ChoiceList(Element):
    """Calls `chosen` with the place of a row that is pressed, counted from 0 through all sections.

    `foresee` says what would follow, and is asked only for the row that is pointed at. One that
    `pops` is hidden until it is called for, and opens where its page was clicked.
    """

    kind = "choices"
    offers: Section
    """``number`` counts the lists there were: who answers to an older one comes too late."""
    foreseen: dict[str, Any]
    pops: bool = False
    calls: int = 0
    """How often it was called for: it takes the focus then."""

    def __init__(
        self,
        foresee: Callable[[int], Sequence[str]],
        chosen: Callable[[int], None],
        *,
        pops: bool = False,
    ) -> None:
        self._foresee, self._chosen = foresee, chosen
        super().__init__(pops=pops, foreseen={}, offers={"number": 0, "sections": []})

    def show(self, sections: Sequence[Section]) -> None:
        """Offer these and no others; predictions for the previous offers are dropped."""
        if sections or self.offers["sections"]:
            self.offers = {"number": self.offers["number"] + 1, "sections": list(sections)}

    def call(self) -> None:
        self.calls += 1

    def receive(self, name: str, value: Any) -> None:
        """A row of this very list was pointed at, or pressed."""
        number, place = value
        count = sum(len(section["rows"]) for section in self.offers["sections"])
        if number != self.offers["number"] or not 0 <= place < count:
            return
        if name == "foresee":
            consequences = list(self._foresee(place))
            self.foreseen = {"number": number, "place": place, "consequences": consequences}
        elif name == "choose":
            self._chosen(place)
