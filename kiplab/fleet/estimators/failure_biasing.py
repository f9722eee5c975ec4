"""Failure biasing over a chain: in each state the unlikely arcs towards the event get half of the
paths, evenly, until the event has happened; likelihood ratios make up for it.

The distance to the event is the number of unlikely steps left (Carrasco's failure distance).
Without it most paths miss the event.

This is for the chain alone, as a check. `biased_runs` biases failures of the kernel, as a fallback
for metrics without windows. Without biasing it is the naive estimate, the referee where the rates
are high.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import msgspec

from ...extras import needed_by
from ..reference.markov_chain import ChainArc, MarkovChain
from ..statistics.block_means import Weights
from .counted_uniforms import uniforms, weights_of

_UNLIKELY = 0.02
"""Of what leaves a state; less is what gets half of the paths."""
_HALF = 0.5
_NAIVE_BLOCKS = 1 << 32
"""Numbers of the blocks that measure how long cycles are."""


class _Steps(msgspec.Struct, frozen=True):
    """Arrays (states, arcs at most): sums of probabilities, targets, ratios, whether it counts."""

    naive: Any
    biased: Any
    targets: Any
    ratio: Any
    counts: Any
    stays: Any


def biased_blocks(
    chain: MarkovChain, event: str, *, seed: int, blocks: int, cycles: int, biased: bool = True
) -> tuple[list[Weights], float]:
    """The weights of each block, and how long all of its cycles took on the chain's clock.

    Raises MissingExtraError without numpy.
    """
    steps = _steps(chain, event)
    found, durations = [], 0.0
    for block in range(blocks):
        found.append(weights_of(_run(steps, seed, block, cycles, biased)[0]))
        durations += float(_run(steps, seed, _NAIVE_BLOCKS + block, cycles, False)[1].sum())
    return found, durations


def _steps(chain: MarkovChain, event: str) -> _Steps:
    with needed_by("an estimate"):
        from numpy import array, cumsum, ones, zeros

    at = {name: n for n, name in enumerate(chain.states)}
    out = [[arc for arc in chain.arcs if arc.origin == name] for name in chain.states]
    shape = (len(at), max(map(len, out)))
    naive, biased, ratio = zeros(shape), zeros(shape), ones(shape)
    targets, counts = zeros(shape, int), zeros(shape, bool)
    left = _steps_left(chain, event, out)
    for n, (name, arcs) in enumerate(zip(chain.states, out, strict=True)):
        whole = sum(arc.rate for arc in arcs)
        nearer = [_after(chain, arc, event, left) < left[name] for arc in arcs]
        for k, (arc, likely) in enumerate(zip(arcs, _balanced(arcs, whole, nearer), strict=True)):
            naive[n, k], biased[n, k] = arc.rate / whole, likely
            targets[n, k], counts[n, k] = at[arc.target], event in arc.counts
            ratio[n, k] = arc.rate / whole / likely
    stays = array([1 / sum(arc.rate for arc in arcs) for arcs in out])
    return _Steps(cumsum(naive, 1), cumsum(biased, 1), targets, ratio, counts, stays)


def _steps_left(
    chain: MarkovChain, event: str, out: Sequence[Sequence[ChainArc]]
) -> dict[str, float]:
    """How many unlikely steps it takes at least from each state to the event, in one cycle."""
    left = dict.fromkeys(chain.states, inf)
    for _ in chain.states:
        for name, arcs in zip(chain.states, out, strict=True):
            whole = sum(arc.rate for arc in arcs)
            ways = (
                _after(chain, arc, event, left) + (arc.rate < _UNLIKELY * whole) for arc in arcs
            )
            left[name] = min(ways)
    return left


def _after(chain: MarkovChain, arc: ChainArc, event: str, left: dict[str, float]) -> float:
    """The unlikely steps that are left once an arc is taken; a cycle that is over has no way on."""
    if event in arc.counts:
        return 0
    return inf if arc.target == chain.states[0] else left[arc.target]


def _balanced(arcs: Sequence[ChainArc], whole: float, nearer: Sequence[bool]) -> list[float]:
    """The probabilities with half of the paths for what is unlikely and leads nearer; as they are
    if nothing is.
    """
    shares = [arc.rate / whole for arc in arcs]
    unlikely = [share < _UNLIKELY and near for share, near in zip(shares, nearer, strict=True)]
    if not any(unlikely):
        return shares
    rest = sum(share for share, rare in zip(shares, unlikely, strict=True) if not rare)
    return [
        _HALF / sum(unlikely) if rare else (1 - _HALF) * share / rest
        for share, rare in zip(shares, unlikely, strict=True)
    ]


def _run(steps: _Steps, seed: int, block: int, cycles: int, biased: bool) -> tuple[Any, Any]:
    """Of each cycle the weighted events in it and, if nothing is biased, how long it is expected to
    take.
    """
    from numpy import arange, full, ones, where, zeros

    state, weight = zeros(cycles, int), ones(cycles)
    events, duration = zeros(cycles), zeros(cycles)
    forcing = full(cycles, biased)
    going, turn = arange(cycles), 0
    while len(going):
        here = state[going]
        duration[going] += steps.stays[here]
        u = uniforms(seed, (block << 20) + turn, len(going), 1)
        cut = where(forcing[going, None], steps.biased[here], steps.naive[here])
        arc = (u > cut[:, :-1]).sum(axis=1)
        weight[going] *= where(forcing[going], steps.ratio[here, arc], 1.0)
        hit = steps.counts[here, arc]
        events[going] += where(hit, weight[going], 0.0)
        forcing[going] &= ~hit
        state[going] = steps.targets[here, arc]
        going, turn = going[state[going] != 0], turn + 1
    return events, duration
