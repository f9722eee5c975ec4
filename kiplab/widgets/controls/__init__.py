"""The controls of a Lab, one panel each; what they offer is worked out as values."""
