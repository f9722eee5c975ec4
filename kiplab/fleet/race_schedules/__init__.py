"""Random schedules around the race of KAFKA-14139, each run through the engine, and counted."""
