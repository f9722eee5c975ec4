"""In which line of a TOML file a key stands, as far as a look at the lines tells."""

import re

_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)")
_AT_END = re.compile(r"\s*\(at end of document\)")


def line_of(source: str, key: str) -> int:
    """The line, from 1, that gives `key` a value, be it as a table of its own; 0 if none does."""
    name = re.escape(key)
    pattern = re.compile(rf"""\s*(\[\s*([\w.]+\.)?["']?{name}["']?\s*\]|["']?{name}["']?\s*[=.])""")
    lines = enumerate(source.splitlines(), 1)
    return next((number for number, line in lines if pattern.match(line)), 0)


def told_line(problem: str, source: str) -> tuple[str, int]:
    """What Python's TOML reader complains of, without the place, and the line."""
    match = _AT_LINE.search(problem)
    line = int(match[1]) if match else len(source.splitlines())
    return _AT_END.sub("", _AT_LINE.sub("", problem)), line
