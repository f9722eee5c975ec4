"""Rates too low for plain sampling: rare events are forced, and weighted by their probability."""
