"""What holds for the shares of a chain and for nothing else, worked out from its arcs alone."""

from kiplab.fleet.reference.markov_chain import MarkovChain, shares


def check_balanced(chain: MarkovChain) -> None:
    """Each state is come to as often as it is left; for chains whose rates are fractions."""
    share = shares(chain)
    assert sum(share.values()) == 1
    for state in chain.states:
        into = sum(share[arc.origin] * arc.rate for arc in chain.arcs if arc.target == state)
        assert into == share[state] * sum(arc.rate for arc in chain.arcs if arc.origin == state)
