"""CONTRIBUTING.md, "Add a mode": each step that is left out is told, and then it is complete."""

import pytest

from tests.recipes.copies import Copied, copy

pytestmark = pytest.mark.long(
    quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told"
)

STATE = '''\
"""A made-up control plane: what it holds for true."""

import msgspec

from ..ids import ControllerEpoch, MetadataOffset
from ..registrations import PartitionRegistration, Registration


class Loft(msgspec.Struct, frozen=True, cache_hash=True):
    """Brokers sorted by id, partitions by name."""

    controller_epoch: ControllerEpoch = ControllerEpoch(1)
    next_offset: MetadataOffset = MetadataOffset(0)
    registrations: tuple[Registration, ...] = ()
    partitions: tuple[PartitionRegistration, ...] = ()
'''
IMPORT = "from ..protocol.pigeons.loft import Loft\n"
READER = """
READERS[Loft] = TruthReader(lambda c: (), lambda c: None, session_timeout_ms=18_000)
"""
ROUTED = """
NOT_ADDRESSED.update({(Loft, body): "it is written to" for body in messages.REQUESTS})
NOT_ADDRESSED.update({(Loft, body): "it asks nobody" for body in messages.RESPONSES})
NOT_ADDRESSED[Loft, messages.MetadataUpdate] = "it has it"
from ..protocol.messages import SessionExpired, WatcherEvent
NOT_ADDRESSED.update({(Loft, body): "of ZooKeeper" for body in (SessionExpired, WatcherEvent)})
"""
UNROUTED = """
from kiplab.protocol.pigeons.loft import Loft

PLANS_NOTHING[Loft] = "it is written to"
"""
MOVES = """
MODE_MOVES.update({(Loft, move): lambda w, m: () for _, move in tuple(MODE_MOVES)})
"""
NAMED = ("tests/engine/test_nodes.py", "tests/engine/test_truth.py", "tests/test_architecture.py")


@pytest.fixture
def here(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """A copy with the package of a made-up mode in it."""
    copied = copy(tmp_path_factory.mktemp("mode"))
    package = copied.path / "kiplab/protocol/pigeons"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "loft.py").write_text(STATE)
    named = copied.path / "pyproject.toml"
    named.write_text(named.read_text().replace('"kraft | ', '"kraft | pigeons | '))
    return copied


def add(here: Copied, module: str, text: str) -> None:
    """Put `text` at the end of a module, and import the made-up mode at its head."""
    path = here.path / module
    head, rest = path.read_text().split("from ..protocol.", 1)
    path.write_text(f"{head}{IMPORT}from ..protocol.{rest}{text}")


def test_a_mode_that_knows_its_sibling_is_told(here: Copied) -> None:
    loft = here.path / "kiplab/protocol/pigeons/loft.py"
    loft.write_text(STATE.replace("from ..ids", "from ..kraft import replay\nfrom ..ids"))
    ran = here.test(*NAMED[2:])
    assert not ran.passed
    assert "kiplab.protocol.pigeons is not allowed to import kiplab.protocol.kraft" in ran.text


def test_a_mode_is_told_what_it_does_not_say_and_then_it_is_complete(here: Copied) -> None:
    add(here, "kiplab/engine/truth.py", READER)
    ran = here.test(*NAMED)
    assert not ran.passed
    assert "FetchRequest may come to Loft: add a rule to ROUTES, or say in" in ran.text
    assert "Loft plans something or nothing: add it to PLANS, or say in" in ran.text
    assert "Start is not said of Loft: add (Loft, moves.Start) to MODE_MOVES" in ran.text
    add(here, "kiplab/engine/routes.py", ROUTED + MOVES)
    unrouted = here.path / "tests/engine/unrouted.py"
    unrouted.write_text(unrouted.read_text() + UNROUTED)
    done = here.test(*NAMED)
    assert done.passed, done.text
