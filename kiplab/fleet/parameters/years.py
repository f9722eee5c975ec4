"""A year: the unit of rates and of exposure."""

SECONDS_PER_YEAR = 365 * 86_400
"""Of 365 days, as the kernel has it."""
MICROSECONDS_PER_YEAR = SECONDS_PER_YEAR * 1_000_000
