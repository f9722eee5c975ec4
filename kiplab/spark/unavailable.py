"""The one error of everything that can keep Spark from working on this machine."""


class SparkUnavailable(Exception):  # noqa: N818 - a state of the machine, not a mistake in code
    """Spark cannot do what was asked.

    ``sentence`` says what is wrong, ``mend`` what to do about it; the exception's text is both.
    """

    def __init__(self, sentence: str, mend: str) -> None:
        super().__init__(sentence, mend)
        self.sentence = sentence
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.sentence} {self.mend}"
