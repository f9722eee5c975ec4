"""A panel in a page: one widget that shows a whole tree of parts, and receives their events.

Only what has changed is sent, in numbered patches. A page that was loaded again, a second view and
a page that has missed a patch get the whole tree. Presses arrive one by one and in order; of the
positions of a slider only the last waits, so that nothing queues up behind a busy kernel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from ...figures.drawing.theme import LIGHT, THEMES, dark_of_light
from ...pages.page_files import AUTO, GLOW, page_file, page_files, page_theme
from .kinds import Element, PlotlyPicture

_PAGE = Path(__file__).with_name("page")
_SCRIPTS = (
    *("daylight", "figures", "keys", "press", "sticky", "controls", "guide"),
    *("picture", "choices", "touch", "reel", "surface"),
)
"""In this order: each uses those before it."""
_COLORS = f"const DARK_OF_LIGHT = {json.dumps(dark_of_light())};"
_SHEETS = ("surface", "keys", "daylight", "sticky", "touch")


def _joined(names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((_PAGE / f"{name}{suffix}").read_text(encoding="utf-8") for name in names)


class PlotlyCode(anywidget.AnyWidget):
    """plotly.js, sent to a page once for all the pictures of a kernel.

    plotly's own FigureWidget brings five megabytes with every figure.
    """

    _esm = "export default {};"
    version = traitlets.Unicode().tag(sync=True)
    code = traitlets.Bytes().tag(sync=True)
    sent: ClassVar[PlotlyCode | None] = None

    @classmethod
    def shared(cls) -> PlotlyCode:
        """The one of this kernel; another one if somebody closed all widgets."""
        from plotly.offline import get_plotlyjs, get_plotlyjs_version

        sent = PlotlyCode.sent
        if sent is None or sent.comm is None:
            code = get_plotlyjs().encode()
            sent = PlotlyCode.sent = cls(version=get_plotlyjs_version(), code=code)
        return sent


class Surface(anywidget.AnyWidget):
    """Shows `root`. `theme` is the page's, "light" or "dark", once a page has sent it.

    `pictures` says that there will be a picture in it: plotly.js is on its way by then. `attempt`
    calls what a page asks for, and answers for what goes wrong in it.
    """

    # It can always be read: a module that cannot would stop every message of its kernel.
    _esm = _PAGE / "boot.js"
    _css = f"{_joined(_SHEETS, '.css')}\n{page_file('glow.css')}"
    code = traitlets.Unicode("\n".join((_COLORS, page_files(*GLOW), _joined(_SCRIPTS, ".js")))).tag(
        sync=True
    )
    plotly = traitlets.Unicode().tag(sync=True)
    """The model that holds plotly.js; not a reference, which a page must resolve within seconds."""
    tree = traitlets.Dict().tag(sync=True, to_json=lambda _, surface: surface.described())
    theme = traitlets.Enum(tuple(THEMES))
    room = traitlets.Tuple()
    """Pixels that a page has for a picture: (width, height); () until a page has sent them."""
    controls = traitlets.Unicode("step")
    """How much this reader wants to press: "step", "act" or "all", as the page has kept it."""
    seen_last: ClassVar[dict[str, Any]] = {"theme": LIGHT.name, "room": (), "controls": "step"}
    """What any page of this kernel has said: the next surface begins with it."""
    any_answered: ClassVar[bool] = False
    """Whether a page has ever answered in this kernel."""
    last_active: ClassVar[Surface | None] = None
    """The surface whose page sent the last message."""
    places: ClassVar[dict[str, str]] = {}
    """The texts that `tell_pages` has sent, by place."""
    any_drew: ClassVar[bool] = False
    """Whether a page has ever drawn a picture in this kernel."""
    # A model of its own says how a widget lies. A surface needs none: its elements say it.
    layout = traitlets.Any(allow_none=True).tag(sync=True)

    def __init__(self, root: Element, *, pictures: bool = False) -> None:
        self.root = root
        self.attempt: Callable[..., None] = lambda action, *arguments: action(*arguments)
        self.number = 0
        self.arrived = self.is_greeted = False
        self._batches = 0
        self._changed: dict[Element, set[str]] = {}
        self._shown: dict[str, Element] = {}
        drawn = _has_picture(self._take_in()) or pictures
        plotly = PlotlyCode.shared().model_id if drawn else ""
        super().__init__(plotly=plotly, **Surface.seen_last)
        self.on_msg(self._receive)

    # --- telling the page -----------------------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """The whole tree: what a page needs that knows nothing yet."""
        parts = {id: part.described() for id, part in self._shown.items()}
        return {"number": self.number, "root": self.root.id, "parts": parts}

    def _take_in(self) -> list[Element]:
        """Observe the parts that are in the tree now, and no others. Returns the new ones."""
        before, self._shown = self._shown, {part.id: part for part in self.root.everything()}
        new = [part for id, part in self._shown.items() if id not in before]
        for part in new:
            part.tell = self._note
        for id in before.keys() - self._shown.keys():
            before[id].tell = None
        return new

    def _note(self, part: Element, name: str) -> None:
        self._changed.setdefault(part, set()).add(name)
        if not self._batches:
            self._flush()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What changes meanwhile is sent at the end, at once."""
        self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1
            if not self._batches:
                self._flush()

    def _flush(self) -> None:
        patch = self._patch()
        if patch:
            self.number += 1
            self.send({"patch": patch, "number": self.number})

    def _patch(self) -> dict[str, Any]:
        changed, self._changed = self._changed, {}
        came = self._take_in() if any("children" in names for names in changed.values()) else []
        if not self.plotly and _has_picture(came):
            self.plotly = PlotlyCode.shared().model_id
        new = {part.id: part.described() for part in came}
        there = [part for part in changed if part.id in self._shown and part.id not in new]
        return {part.id: part.described(tuple(sorted(changed[part]))) for part in there} | new

    # --- messages from the page -----------------------------------------------------------------

    def _receive(self, _widget: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        Surface.last_active, self.arrived = self, True
        if "hello" in content:
            self.is_greeted = Surface.any_answered = True
            # A page sends the number of its last patch; if later ones are missing it gets all.
            if content["hello"] != self.number:
                self.send({"tree": self.described()})
            if Surface.places:
                self.send({"places": Surface.places})
        if "drawn" in content:
            Surface.any_drew = True
        try:
            with self.batch():
                self.attempt(self._heed, content, buffers)
        finally:
            if "by" in content:
                self.send({"done": content["by"]})

    def _heed(self, content: dict[str, Any], buffers: list[Any]) -> None:
        if "theme" in content:
            self.theme = Surface.seen_last["theme"] = content["theme"]
        if "room" in content:
            room = int(content["room"]["width"]), int(content["room"]["height"])
            self.room = Surface.seen_last["room"] = room
        if "controls" in content:
            self.controls = Surface.seen_last["controls"] = content["controls"]
        part = self._shown.get(content.get("part", ""))
        if part is None:
            return
        value: Any = content.get("value")
        if buffers:
            value = {**value, "content": bytes(buffers[0])}
        try:
            part.receive(content["name"], value)
        finally:
            # The part may have adjusted the value that the page sent.
            self._changed.setdefault(part, set()).update(part.heeds)

    @classmethod
    def tell_pages(cls, place: str, text: str) -> None:
        """Let every page show `text` in the elements with that ``data-kiplab-place``.

        A page that was loaded again no longer knows which output IPython's display id means.
        """
        if cls.places.get(place) != text:
            cls.places[place] = text
            if cls.last_active is not None:
                cls.last_active.send({"places": {place: text}})

    def keep_controls(self, controls: str) -> None:
        """Let this reader's pages keep how much there is to press."""
        self.controls = Surface.seen_last["controls"] = controls
        self.send({"controls": controls})

    def send_again(self) -> None:
        """Send the model once more, to a page that seems to have missed it."""
        _open_again(self)
        if self.plotly and not Surface.any_drew:
            _open_again(PlotlyCode.shared())

    def bundle(self, text: str, **options: Any) -> dict[str, Any]:
        """What a cell shows: the panel, and `text` where there are no widgets."""
        shown: Any = self._repr_mimebundle_(**options)
        return {**shown[0], "text/plain": text}


def _has_picture(parts: list[Element]) -> bool:
    return any(isinstance(part, PlotlyPicture) for part in parts)


def _open_again(widget: Any) -> None:
    # The old end is kept: one that is forgotten says that the model is closed.
    widget.sent_before = widget.comm
    widget.comm = None
    widget.open()


# --- light or dark --------------------------------------------------------------------------------


class Daylight:
    """`theme` is that of the pictures on a surface: that `theme`, or for "auto" the page's.

    Raises ValueError for a theme that there is none of.
    """

    def __init__(self, theme: str, surface: Surface) -> None:
        page_theme(theme)
        self._chosen, self._surface = theme, surface

    @property
    def theme(self) -> str:
        """ "light" or "dark"; light until a page has sent one."""
        page: str = self._surface.theme
        return page if self._chosen == AUTO else self._chosen

    @property
    def still(self) -> str:
        """The theme of what is kept in a file: nobody knows the page on which that is read."""
        return page_theme(self._chosen).name

    def follow(self, paint: Callable[[str], None]) -> None:
        """Call `paint` with the page's theme whenever it changes."""
        if self._chosen == AUTO:
            self._mark(self.theme)
            self._surface.observe(lambda change: self._turn(change["new"], paint), "theme")

    def _turn(self, theme: str, paint: Callable[[str], None]) -> None:
        paint(theme)
        self._mark(theme)

    def _mark(self, theme: str) -> None:
        """The style sheet hides a picture for the moment in which it is not the page's."""
        root = self._surface.root
        others = (name for name in root.classes if not name.startswith("kiplab-drawn"))
        root.classes = (*others, f"kiplab-drawn-{theme}")
