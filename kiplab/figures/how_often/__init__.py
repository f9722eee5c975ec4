"""Pictures of how often, and for whom: rates with their intervals, from plain rows."""
