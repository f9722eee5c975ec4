"""The only thing that decides what happens: `step`, and what can be asked of it."""
