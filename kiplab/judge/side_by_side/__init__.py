"""A play twice: the engine's controller decides in one column, a real one in the other."""
