"""A continuous-time Markov chain: how often each kind of arc is taken, by two ways.

The first solves for the stationary shares by the elimination of Grassmann, Taksar and Heyman, which
never subtracts: a share of 1e-15 is as precise as one of 1/2. The second follows one cycle, from a
state back to it. Plain arithmetic: with fractions in, fractions come out, and both ways agree
exactly.
"""

from collections.abc import Sequence
from typing import Any

import msgspec


class ChainArc(msgspec.Struct, frozen=True):
    """From one state to another at a rate; `counts` names the events that taking it is."""

    origin: str
    target: str
    rate: Any
    counts: frozenset[str] = frozenset()


class MarkovChain(msgspec.Struct, frozen=True):
    """States in the order of elimination, the one it comes back to first; arcs between them."""

    states: tuple[str, ...]
    arcs: tuple[ChainArc, ...]


def shares(chain: MarkovChain) -> dict[str, Any]:
    """The share of time in each state, in the long run.

    Raises ValueError for a chain that does not come back to its first state from every other.
    """
    rates = _matrix(chain)
    leaving = _eliminated(rates, chain.states)
    weights: list[Any] = [1]
    for n in range(1, len(rates)):
        into = sum(weight * rates[k][n] for k, weight in enumerate(weights))
        weights.append(into / leaving[n])
    whole = sum(weights)
    return {name: weight / whole for name, weight in zip(chain.states, weights, strict=True)}


def rates_by_shares(chain: MarkovChain) -> dict[str, Any]:
    """How often each event happens per unit of time. Raises ValueError as `shares` does."""
    share = shares(chain)
    rates = dict.fromkeys(sorted({event for arc in chain.arcs for event in arc.counts}), 0)
    for arc in chain.arcs:
        for event in arc.counts:
            rates[event] = rates[event] + share[arc.origin] * arc.rate
    return rates


def _matrix(chain: MarkovChain) -> list[list[Any]]:
    at = {name: n for n, name in enumerate(chain.states)}
    rates: list[list[Any]] = [[0] * len(at) for _ in at]
    for arc in chain.arcs:
        rates[at[arc.origin]][at[arc.target]] += arc.rate
    return rates


def _eliminated(rates: list[list[Any]], states: Sequence[str]) -> list[Any]:
    """Cut out one state after another, from the last: who came to it goes where it would go on.

    Changes `rates`, and gives the rate at which each is left for one that is still there.
    """
    leaving: list[Any] = [0] * len(rates)
    for n in range(len(rates) - 1, 0, -1):
        leaving[n] = sum(rates[n][:n])
        if not leaving[n]:
            raise ValueError(f"from {states[n]} nothing leads back to {states[0]}")
        for i in range(n):
            if rates[i][n]:
                for j in range(n):
                    if j != i:
                        rates[i][j] += rates[i][n] * rates[n][j] / leaving[n]
    return leaving
