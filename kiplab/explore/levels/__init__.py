"""How finely a search cuts what happens, and what counts as the same state."""
