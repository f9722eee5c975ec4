"""A real cluster's metadata log: read, replayed, judged and drawn. It needs no Java."""
