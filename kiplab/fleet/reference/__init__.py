"""References for simulations: a chain that is solved exactly, and formulas on one line."""
