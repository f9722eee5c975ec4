"""Errors in a parameter, each in one sentence that a person can act on."""

from __future__ import annotations


class ParameterError(ValueError):
    """File, line (from 1; 0 where it is unknown), key, what was wrong, what is allowed."""

    def __init__(
        self, problem: str, *, allowed: str, key: str = "", line: int = 0, file: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.key = key
        self.line = line
        self.file = file

    def placed(self, *, file: str = "", line: int = 0) -> ParameterError:
        """The same error, with the place filled in where it was still open."""
        self.file = self.file or file
        self.line = self.line or line
        return self

    def __str__(self) -> str:
        place = ":".join(word for word in (self.file, str(self.line or "")) if word)
        about = ": ".join(word for word in (place, self.key, self.problem) if word)
        return f"{about}; {self.allowed}"
