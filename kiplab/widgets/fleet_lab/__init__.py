"""`FleetLab`: how often, for fleets like ours; asked by sliders, answered with intervals."""
