"""What a page of HTML is made of: its tags in order, and its words."""

from html.parser import HTMLParser

_VOID = ("meta", "br", "input", "img", "link", "hr")
"""Tags that nothing closes."""


class Outline(HTMLParser):
    """Tags with their attributes; the words outside and inside of <details>, styles left out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: dict[bool, list[str]] = {False: [], True: []}
        self._open: list[str] = []
        self._crossed = False
        self.feed(page)

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        """The attributes of every tag of these names."""
        return [attributes for tag, attributes in self.tags if tag in tags]

    @property
    def is_closed(self) -> bool:
        """Whether every tag is closed that was opened, the last one first."""
        return not (self._open or self._crossed)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._crossed |= not self._open or self._open.pop() != tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words["details" in self._open].append(data)
