"""Random numbers by counting: Philox4x32-10 of Salmon, Moraes, Dror and Shaw (SC 2011).

A block of four words is a function of a key and a counter. The key is (study seed, replication);
the counter says what the numbers are for. So nothing depends on the order in which they are asked
for, and all feature sets meet the same world. All words have 32 bits, in whole numbers of 64.
"""

from .machine_code import fast
from .word_arithmetic import WORD, lower_product, upper_product

_MULTIPLIER_0, _MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
_WEYL_0, _WEYL_1 = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


@fast
def philox(key0: int, key1: int, c0: int, c1: int, c2: int, c3: int) -> tuple[int, int, int, int]:
    """The block of the counter (c0, c1, c2, c3) under the key (key0, key1)."""
    for _ in range(ROUNDS):
        high0, low0 = upper_product(_MULTIPLIER_0, c0), lower_product(_MULTIPLIER_0, c0)
        high1, low1 = upper_product(_MULTIPLIER_1, c2), lower_product(_MULTIPLIER_1, c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
        key0, key1 = (key0 + _WEYL_0) & WORD, (key1 + _WEYL_1) & WORD
    return c0, c1, c2, c3
