"""Picture (a): one run, two side by side, or three and four below one another."""
