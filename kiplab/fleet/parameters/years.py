"""A year: what rates are per, and what exposure is counted in."""

SECONDS_PER_YEAR = 365 * 86_400
"""Of 365 days, as the kernel has it."""
MICROSECONDS_PER_YEAR = SECONDS_PER_YEAR * 1_000_000
