"""Two fetches at once: the first leads to a proposal, the second is noted before that is written.

A broker has several threads for requests, and changes its state of a follower without the
partition's lock (3.2 to 3.6). A thread that holds the lock and is about to propose a follower may
read how far it is. A moment later it may read, for the request, an epoch that another thread has
noted in between. The input is two fetches of one partition, on two connections. Both are judged and
read first. Then the older one is noted, and the follower found caught up and eligible; then the
other one is noted; then the proposal is written down. Any other interleaving needs the lock, or
touches nothing that is read here, and so is equal to an order before or after. If the lock is held
for the noting too, or nothing is proposed, one fetch is served after the other. The output is the
broker, its messages, and facts.
"""

from ..facts import Fact
from ..features import Features
from ..messages import FetchRequest, Send
from . import broker_parts, fetching
from .broker_parts import Here
from .broker_state import Broker, log_of, replica_of
from .isr_proposals import propose_expand
from .leader import follower_fetched

TwoFetchesServed = tuple[Broker, tuple[Send, ...], tuple[Send, ...], tuple[Fact, ...]]
"""The broker, what it sends after the first fetch and after the other, what it reports."""


def serve_fetches_at_once(
    broker: Broker,
    request: FetchRequest,
    other: FetchRequest,
    features: Features,
    now_ms: int | None,
) -> TwoFetchesServed:
    """Serve `request`, and let `other` come in between where nothing keeps it out.

    Source: Partition.fetchRecords, updateFollowerFetchState, maybeExpandIsr and prepareIsrExpand
    (3.5.2 and 3.6.2 without a lock around Replica.updateFetchState; 3.7.0 with leaderIsrUpdateLock
    around updateFetchStateOrThrow); KAFKA-15221.
    """
    here = broker_parts.here(broker, features, now_ms)
    # KAFKA-15221, "Fix the race between fetch requests from a rebooted follower": the end that
    # makes a follower eligible and the epoch that it is proposed with are of one state.
    kept_out = "kafka-15221.locked-state" in here.active
    between = None if kept_out else _in_between(here, broker, request, other, features)
    if between is not None:
        return between
    broker, sends, facts = fetching.serve_fetch(broker, request, features, now_ms)
    broker, later, more = fetching.serve_fetch(broker, other, features, now_ms)
    return broker, sends, later, (*facts, *more)


def _in_between(
    here: Here, broker: Broker, request: FetchRequest, other: FetchRequest, features: Features
) -> TwoFetchesServed | None:
    before, log = replica_of(broker, request.partition), log_of(broker, request.partition)
    read = [fetching.read(here, before, log, one) for one in (request, other)]
    if before is None or not all(counts for _, _, counts in read):
        return None
    (reply, _, _), (later, _, _) = read
    judged, fact = follower_fetched(here, before, log, request, request.replica_epoch)
    if propose_expand(here, judged, request.replica)[1] is None:
        return None
    noted, more = follower_fetched(here, judged, log, other, other.replica_epoch)
    broker, sends, facts = fetching.go_on(here, broker, before, noted, request, features, judged)
    replica = replica_of(broker, request.partition) or noted
    broker, last, rest = fetching.go_on(here, broker, judged, replica, other, features)
    return broker, (reply, *sends), (later, *last), (fact, more, *facts, *rest)
