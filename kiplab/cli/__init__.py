"""The `kiplab` command and its parts."""
