"""Broker epochs as a request tells them: from some version on, and -1 where it cannot.

Each function takes first what the caller of several feature sets at once may have in more than one
value, and can be told what such a value means (`functools.singledispatch`).
"""

from functools import singledispatch
from typing import Any

from .ids import NO_BROKER_EPOCH, BrokerEpoch


@singledispatch
def told_since(version: Any, first: int, epoch: BrokerEpoch) -> BrokerEpoch:
    """`epoch` as a request of `version` tells it, whose schema has the field from `first` on; below
    that it reads as -1.
    """
    return epoch if version >= first else NO_BROKER_EPOCH


@singledispatch
def is_of_another_incarnation(epoch: Any, registered: BrokerEpoch) -> bool:
    """Whether `epoch` was told, and is not the one that is `registered`: -1 contradicts nothing."""
    return bool(epoch != registered and epoch != NO_BROKER_EPOCH)
