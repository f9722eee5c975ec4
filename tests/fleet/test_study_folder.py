"""The folder of a study: what is kept, what is found again, what is refused; all without Spark."""

import os
import resource
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from kiplab.fleet.pipeline import study_folder
from kiplab.fleet.pipeline.study_folder import StudyFolderError, StudyNotKeptError, partials_in
from kiplab.fleet.pipeline.study_plan import summarise
from kiplab.fleet.pipeline.study_run import RunProgress
from kiplab.spark import BlockFailed
from tests.fleet import coins
from tests.fleet.coins import work_out

ALL = 10
"""Blocks of the plan."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that nothing came in the way of."""
    folder = tmp_path_factory.mktemp("whole") / "study"
    assert work_out(folder).finished
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- what is kept -------------------------------------------------------------------------------


def test_every_block_has_a_partial_for_each_feature_set_and_metric(whole: Path) -> None:
    rows = partials_in(whole).to_pylist()
    keys = {(r["scenario_id"], r["features"], r["metric"], r["block"]) for r in rows}
    assert len(keys) == len(rows) == ALL * len(coins.SETS) * len(coins.METRICS)


def test_the_partials_are_those_of_the_block_function(whole: Path) -> None:
    rows = partials_in(whole).to_pylist()
    said = [msgspec.to_builtins(one) for order in coins.plan().orders for one in coins.throw(order)]
    by_key = sorted(
        said, key=lambda r: [r[k] for k in ("scenario_id", "features", "metric", "block")]
    )
    assert rows == by_key


def test_the_waves_read_as_one_parquet_table_without_kiplab(whole: Path) -> None:
    found = pq.read_table(whole / "waves")
    assert found.num_rows == partials_in(whole).num_rows
    assert set(found["features"].to_pylist()) == set(coins.SETS)


def test_a_summary_adds_up_the_blocks(whole: Path) -> None:
    rows = summarise(partials_in(whole))
    assert len(rows) == 2 * len(coins.SETS) * len(coins.METRICS)
    one = next(r for r in rows if (r.features, r.metric) == ("none", "heads"))
    orders = [o for o in coins.plan().orders if o.scenario.scenario_id == one.scenario_id]
    parts = [coins.throw(order)[0] for order in sorted(orders, key=lambda o: o.block)]
    assert len(one.weights) == len(parts) == 5
    assert one.events == sum(part.events for part in parts) > 0
    assert one.exposure_us == 5 * 40 * 10**20
    total = 0.0
    for part in parts:
        total += part.sum_w
    assert one.counted.total == total


def test_neighbours_of_the_grid_are_dealt_out_mixed() -> None:
    scenarios = [order.scenario.parameters.tail_lost for order in coins.plan(blocks=20).orders]
    assert scenarios != sorted(scenarios) != scenarios[::-1]


# --- resume -------------------------------------------------------------------------------------


def test_a_finished_study_runs_nothing_again(copy: Path) -> None:
    before = everything(copy)
    outcome = work_out(copy, work=coins.refuse_block_3, resume=True)
    assert (outcome.finished, outcome.blocks_before, outcome.blocks) == (True, ALL, ALL)
    assert everything(copy) == before


def test_resume_begins_where_there_is_nothing_yet(tmp_path: Path) -> None:
    assert work_out(tmp_path / "new", resume=True).finished


def test_more_blocks_of_the_same_study_are_added(copy: Path, tmp_path: Path) -> None:
    more = coins.plan(blocks=8)
    assert work_out(copy, more, resume=True).blocks_before == ALL
    work_out(tmp_path / "at once", more)
    assert partials_in(copy).equals(partials_in(tmp_path / "at once"))


class Killed(BaseException):
    """What nobody can do anything after."""


@contextmanager
def killed_at(step: int) -> Iterator[list[str]]:
    """From the step on that was given, the process does nothing any more: no tidying up either."""
    done: list[str] = []
    patch = pytest.MonkeyPatch()

    def dying(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            if len(done) >= step:
                raise Killed
            done.append(name)
            return real(*args, **kwargs)

        return called

    for name in ("fsync", "replace", "open", "mkdir"):
        patch.setattr(os, name, dying(name, getattr(os, name)))
    patch.setattr(Path, "unlink", _tidy(done, step, Path.unlink))
    try:
        yield done
    finally:
        patch.undo()


def _tidy(done: list[str], step: int, real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: None if len(done) >= step else real(*args, **kwargs)


def test_killed_at_any_moment_it_is_gone_on_with(tmp_path: Path) -> None:
    """Every call that changes the disk is the last one once."""
    small = coins.plan(shares=(0.5,), blocks=2, feature_sets=("none", "841"))
    work_out(tmp_path / "whole", small)
    step, finished = 0, False
    while not finished:
        folder = tmp_path / str(step)
        with killed_at(step):
            try:
                finished = work_out(folder, small).finished
            except Killed:
                finished = False
        before = _blocks_kept(folder)
        outcome = work_out(folder, small, resume=True)
        assert outcome.blocks_before == before
        assert partials_in(folder).equals(partials_in(tmp_path / "whole"))
        step += 1
    assert step > 12


def _blocks_kept(folder: Path) -> int:
    return len(study_folder.StudyFolder(folder).done)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, whole: Path) -> None:
    def pressed(now: RunProgress) -> None:
        if now.blocks == 3:
            signal.raise_signal(signal.SIGINT)

    outcome = work_out(tmp_path / "study", listener=pressed)
    assert not outcome.finished
    assert outcome.blocks == 3
    assert work_out(tmp_path / "study", resume=True).blocks_before == 3
    assert partials_in(tmp_path / "study").equals(partials_in(whole))


def test_without_spark_a_stop_waits_for_no_wave(tmp_path: Path) -> None:
    stop = threading.Event()

    def heard(now: RunProgress) -> None:
        if now.years >= 3 * now.all_years / ALL:
            stop.set()

    outcome = work_out(tmp_path / "study", listener=heard, stop=stop, keep_every_s=1_000)
    assert outcome.blocks == 3


@pytest.mark.parametrize("ends", [ArithmeticError, KeyboardInterrupt])
def test_without_spark_whatever_ends_a_wave_keeps_what_was_done(
    tmp_path: Path, ends: type[BaseException]
) -> None:
    done: list[int] = []

    def work(order: Any) -> Any:
        if len(done) == 3:
            raise ends
        done.append(order.block)
        return coins.throw(order)

    with suppress(BlockFailed):
        work_out(tmp_path / "study", work=work, keep_every_s=1_000)
    assert _blocks_kept(tmp_path / "study") == 3


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"study_seed": 8}, "the seed is not the same"),
        ({"code": "ffff"}, "the version of the code that worked it out is not the same"),
        ({"feature_sets": ("none",)}, "the feature sets is not the same"),
        ({"shares": (0.5, 0.2)}, "the scenarios, or the size of their blocks, is not the same"),
        ({"block_replications": 41}, "the size of their blocks, is not the same"),
    ],
)
@pytest.mark.parametrize("resume", [False, True])
def test_the_folder_of_another_study_is_refused(
    copy: Path, change: dict[str, Any], sentence: str, resume: bool
) -> None:
    before = everything(copy)
    with pytest.raises(StudyFolderError) as refused:
        work_out(copy, coins.plan(**change), resume=resume)
    assert sentence in refused.value.sentence
    assert everything(copy) == before


def test_a_study_that_is_there_is_not_begun_again(copy: Path) -> None:
    with pytest.raises(StudyFolderError, match=r"this study already\. Run it with --resume"):
        work_out(copy)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("chapter 1")
    with pytest.raises(StudyFolderError, match="is not empty, and holds no study"):
        work_out(tmp_path, resume=True)
    assert everything(tmp_path) == {"thesis.txt": b"chapter 1"}


@pytest.mark.parametrize("below", ["", "deeper/study"])
def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path, below: str) -> None:
    file = tmp_path / "results"
    file.write_text("mine")
    with pytest.raises(StudyFolderError, match=r"results is a file\. A study is kept in a folder"):
        work_out(file / below)
    assert file.read_text() == "mine"


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    with _unwritable(tmp_path), pytest.raises(StudyNotKeptError) as refused:
        work_out(tmp_path / "study")
    assert "study cannot be written: " in refused.value.sentence
    assert refused.value.mend == "Name a folder that may be written."
    assert not list(tmp_path.iterdir())


@contextmanager
def _unwritable(folder: Path) -> Iterator[None]:
    """Root may write everywhere, and so becomes somebody else for a while."""
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_a_full_disk_ends_in_a_sentence_and_keeps_what_is_done(whole: Path, tmp_path: Path) -> None:
    """A limit on the size of files does what a full disk does, for root too."""
    folder, was = tmp_path / "study", resource.getrlimit(resource.RLIMIT_FSIZE)

    def fills_up(now: RunProgress) -> None:
        if now.blocks == 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, was[1]))

    try:
        with pytest.raises(StudyNotKeptError) as refused:
            work_out(folder, listener=fills_up)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
    assert "study cannot be written: " in refused.value.sentence
    assert refused.value.mend.startswith("Free some space and run it again with resume")
    assert _blocks_kept(folder) == 4
    assert not list(folder.rglob("*unfinished*"))
    assert work_out(folder, resume=True).blocks_before == 4
    assert partials_in(folder).equals(partials_in(whole))


def test_two_at_once_are_refused(copy: Path) -> None:
    refused: list[str] = []

    def second(now: RunProgress) -> None:
        if now.blocks == ALL and not refused:
            with pytest.raises(StudyFolderError) as found:
                work_out(copy, coins.plan(blocks=6), resume=True)
            refused.append(found.value.sentence)

    work_out(copy, coins.plan(blocks=6), resume=True, listener=second)
    assert refused == [f"Somebody else is writing to {copy} just now."]


def test_a_study_that_somebody_begins_at_the_same_moment_is_not_mixed_with_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real = tmp_path / "study", study_folder._alone_in

    def late(path: Path) -> Any:
        monkeypatch.setattr(study_folder, "_alone_in", real)
        work_out(folder, coins.plan(study_seed=8))
        return real(path)

    monkeypatch.setattr(study_folder, "_alone_in", late)
    with pytest.raises(StudyFolderError, match="another study: the seed is not"):
        work_out(folder, resume=True)
    assert _blocks_kept(folder) == ALL


def test_a_folder_without_a_study_has_no_partials(tmp_path: Path) -> None:
    with pytest.raises(StudyFolderError, match="holds no study"):
        partials_in(tmp_path)


# --- what is damaged ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [lambda b: b[:-9], lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:], lambda _: b""]
)
def test_a_file_that_was_changed_is_noticed_and_mended_as_the_sentence_says(
    copy: Path, whole: Path, change: Callable[[bytes], bytes]
) -> None:
    file = copy / "waves" / "wave-000001.parquet"
    file.write_bytes(change(file.read_bytes()))
    for asked in (lambda: partials_in(copy), lambda: work_out(copy, resume=True)):
        with pytest.raises(StudyFolderError, match=r"wave-000001.parquet is damaged: ") as damaged:
            asked()
        assert "Remove that file and run the study again with resume" in damaged.value.mend
    file.unlink()
    assert work_out(copy, resume=True).blocks_before == ALL - 1
    assert partials_in(copy).equals(partials_in(whole))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("{", r"study.json cannot be read: .* Put it back as it"),
        ("[]", r"study.json cannot be read: .* Put it back as it"),
        ('{"format": 2}', "Another version of kiplab has written"),
    ],
)
def test_a_study_that_is_damaged_or_of_another_kiplab_is_called_so(
    copy: Path, said: str, sentence: str
) -> None:
    (copy / "study.json").write_text(said)
    with pytest.raises(StudyFolderError, match=sentence):
        work_out(copy, resume=True)


def test_a_copy_beside_the_waves_is_no_wave(copy: Path, tmp_path: Path) -> None:
    wave = copy / "waves" / "wave-000001.parquet"
    shutil.copy(wave, wave.with_name("wave-000001 copy.parquet"))
    more = coins.plan(blocks=6)
    assert work_out(copy, more, resume=True).finished
    work_out(tmp_path / "at once", more)
    assert partials_in(copy).equals(partials_in(tmp_path / "at once"))


def test_a_block_whose_rows_are_gone_is_worked_out_once_more(copy: Path, whole: Path) -> None:
    file = copy / "waves" / "wave-000001.parquet"
    rows = pq.read_table(file)
    blocks = rows["block"].to_pylist()
    pq.write_table(rows.filter([block != blocks[0] for block in blocks]), file)
    with pytest.raises(StudyFolderError, match="holds this study already"):
        work_out(copy)
    again = work_out(copy, resume=True)
    assert again.finished
    assert again.blocks_before < ALL
    assert partials_in(copy).equals(partials_in(whole))


def test_a_block_that_is_there_twice_is_not_counted_twice(copy: Path) -> None:
    """Two writers at once, where the machine has no locks, keep it twice."""
    wave = copy / "waves" / "wave-000001.parquet"
    shutil.copy(wave, wave.with_name("wave-000099.parquet"))
    with pytest.raises(
        StudyFolderError, match=r"Block \d of scenario \w+ is in .*01.* and in .*99"
    ):
        partials_in(copy)
