"""How sure a number is: exact intervals for counts, blocks for weights, incidents as the unit."""
