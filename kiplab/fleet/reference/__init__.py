"""What simulations are held to: a chain that is solved exactly, and formulas on one line."""
