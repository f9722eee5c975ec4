"""Long sentences in a notebook, where a printed line breaks in the middle of a word."""

from __future__ import annotations

from textwrap import fill

from .check_result import LINE


def say(*texts: str) -> None:
    """Print texts, a blank line between them, each line broken between words."""
    print("\n\n".join(broken(text) for text in texts))


def broken(text: str) -> str:
    """`text` in lines that a notebook shows whole; what is indented goes on a little further in."""
    return "\n".join(_broken_line(line) for line in text.splitlines())


def _broken_line(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2) if line.startswith(" ") else ""
    return fill(
        line, LINE, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
