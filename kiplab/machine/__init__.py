"""The equipment of this machine: Java, a cache folder, and the error for a missing part."""


class LackingError(Exception):
    """Something that was asked for cannot be had on this machine.

    `sentence` says what is missing, `mend` what to do about it; the text is both.
    """

    def __init__(self, sentence: str, mend: str) -> None:
        super().__init__(sentence, mend)
        self.sentence = sentence
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.sentence} {self.mend}"
