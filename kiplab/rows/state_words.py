"""Kafka's words for the fields of the state, and the fields that a reader is spared, and why.

A field is named ``"Struct.field"``. One that no table here names is shown under its own name.
"""

import tomllib
from importlib.resources import files

_WORDS = tomllib.loads((files(__package__) / "state_words.toml").read_text("utf-8"))
LABELS, NOTES, LEFT_OUT, NOTHING = (
    dict[str, str](_WORDS[table]) for table in ("labels", "notes", "left_out", "nothing")
)
"""What fields are called, notes on them, those that are not shown and why, the meaning of None."""
OF_OTHER_MODES, CLOCKED, INLINE, _IDENTITY = (
    frozenset[str](_WORDS[places].split())
    for places in ("of_other_modes", "clocked", "inline", "identity")
)
IDENTITY = dict(place.split(".") for place in _IDENTITY)
"""By a struct of which there are many, the field that names one."""
