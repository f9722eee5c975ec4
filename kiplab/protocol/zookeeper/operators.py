"""Actions of ZooKeeper and operators without a broker: expired sessions, znodes written by hand.

The input is the ensemble and the session or znode. An operator has a session for the time of
a command. The output is the ensemble, its watch events, and facts; without a change, the
same ensemble.
"""

from msgspec.structs import replace

from ..facts import Fact
from ..ids import CLIENT, ZOOKEEPER, BrokerId, Incarnation, SessionId
from ..messages import Send, SessionExpired
from ..zookeeper_facts import SessionEnded, ZnodeChanged
from . import ensemble_writes
from .ensemble import Ensemble, find
from .ensemble_sessions import end_session, open_session
from .znodes import CONTROLLER_PATH, TopicConfigZnode, topic_config_path

OperatorEffect = tuple[Ensemble, tuple[Send, ...], tuple[Fact, ...]]
"""The ensemble, what it sends, the facts."""
_NO_LIFE = Incarnation(0)


def expire(ensemble: Ensemble, broker: BrokerId, running: SessionId | None) -> OperatorEffect:
    """End the oldest session of a broker; the process that runs in it learns of it on its return.

    `running` is the session of the broker's process, None while it has none.

    Source: ZooKeeperServer.expire (ZooKeeper 3.9.5) and ClientCnxn.onConnected (3.5.9).
    """
    session = next(s.id for s in ensemble.sessions if s.owner == broker)
    ended = end_session(ensemble, session)
    fact = SessionEnded(ZOOKEEPER, broker, session=session, expired=True)
    word = (Send(broker, SessionExpired(session=session)),) if session == running else ()
    return ended.ensemble, (*ended.fired, *word), (fact,)


def delete_controller(ensemble: Ensemble) -> OperatorEffect:
    """An operator deletes /controller, so that another broker is elected.

    Source: none; it stands for `delete /controller` in zookeeper-shell.
    """
    operation = ensemble_writes.Delete(CONTROLLER_PATH, ensemble_writes.ANY_VERSION)
    return _by_hand(ensemble, operation, "an operator deletes it")


def allow_unclean_elections(ensemble: Ensemble, topic: str, *, allowed: bool) -> OperatorEffect:
    """Sets unclean elections of a topic. Source: AdminZkClient.changeTopicConfig (3.4.1)."""
    path = topic_config_path(topic)
    znode = find(ensemble, path)
    held = znode.data if znode is not None else None
    config = held if isinstance(held, TopicConfigZnode) else TopicConfigZnode(topic)
    changed = replace(config, unclean_leader_election=allowed)
    operation = ensemble_writes.SetData(path, changed, ensemble_writes.ANY_VERSION)
    text = f"unclean.leader.election.enable={'true' if allowed else 'false'}"
    return _by_hand(ensemble, operation, text)


def _by_hand(ensemble: Ensemble, operation: ensemble_writes.Operation, text: str) -> OperatorEffect:
    """One command of an operator: a session, the operation, the end of the session."""
    opened = open_session(ensemble, CLIENT, _NO_LIFE)
    done = ensemble_writes.transact(opened.ensemble, opened.session, (operation,))
    ended = end_session(done.ensemble, opened.session)
    fact = ZnodeChanged(ZOOKEEPER, operation.path, ended.ensemble.zxid, text)
    facts = (fact,) if done.error is ensemble_writes.ZooKeeperError.NONE else ()
    return ended.ensemble, (*done.fired, *ended.fired), facts
