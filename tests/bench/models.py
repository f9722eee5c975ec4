"""How many widget models a page is sent, and how large they are; prints numbers, judges nothing.

    python tests/bench/models.py

Counted where ipywidgets sends them: a model is a message that a slow machine can lose. plotly.js is
one model of its own for a whole kernel, counted where the first picture needs it. Before panels
were surfaces a Lab was 857 to 884 models, and the cells of lab 09 run at once 1,789.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))


class Sent:
    """What is sent while something is made."""

    def __init__(self) -> None:
        import ipywidgets

        self.models = self.messages = self.size = 0
        self._open, self._send = ipywidgets.Widget.open, ipywidgets.Widget.send
        ipywidgets.Widget.open = lambda widget: self._opened(widget)
        ipywidgets.Widget.send = lambda widget, *content: self._told(widget, *content)

    def _opened(self, widget: Any) -> None:
        from msgspec.json import encode

        state = {key: value for key, value in widget.get_state().items() if key != "code"}
        self.models, self.size = self.models + 1, self.size + len(encode(state))
        self._open(widget)

    def _told(self, widget: Any, *content: Any) -> None:
        self.messages += 1
        self._send(widget, *content)


def main() -> None:
    import os

    os.environ["KIPLAB_WORK"] = str(Path(tempfile.mkdtemp()) / "work.json")
    import kiplab

    sent = Sent()
    print(f"{'':<44}{'models':>7}{'more messages':>15}{'kB':>7}")

    def count(what: str, make: Callable[[], Any]) -> Any:
        before = (sent.models, sent.messages, sent.size)
        made = make()
        models, messages, size = (
            now - then
            for now, then in zip((sent.models, sent.messages, sent.size), before, strict=True)
        )
        print(f"{what:<44}{models:>7}{messages:>15}{size / 1000:>7.0f}")
        return made

    count("a prediction", lambda: kiplab.predict("bench/one", "What happens?", ["this", "that"]))
    lab = count("the first Lab of a kernel", lambda: kiplab.Lab("kafka-14139"))
    count("another Lab", lambda: kiplab.Lab("kafka-14139"))
    count("eleven steps in it", lambda: [lab.seek(at) for at in range(12)])
    count("every panel opened", lambda: [lab.folds.open(title) for title in lab.folds.headings])
    count("an ordering exercise, checked", lambda: kiplab.Ordering().check())
    count("a sheet of eight answers, checked", lambda: kiplab.AnswerSheet().check())


if __name__ == "__main__":
    main()
