"""A partition's history as a play: the engine writes the records that the metadata log has."""
