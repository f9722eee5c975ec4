"""The one error of everything that keeps a picture from being written."""


class ExportError(Exception):
    """A picture that cannot be written: `message` says why, `mend` what helps."""

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(f"{message}; {mend}")
        self.message = message
        self.mend = mend
