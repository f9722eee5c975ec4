"""How often it happens: the life of a replica set over years, event by event, in machine code.

Every time is a whole number of microseconds, and every draw a function of what it is for, so that
the same source gives the same numbers with numba and without it. The engine's `step` says what
Kafka does; `kiplab/fleet/agreement` holds this room to it.
"""
