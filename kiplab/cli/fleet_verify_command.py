"""`kiplab fleet verify`: whether the fleet's numbers are right, by everybody who ought to know."""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from . import common_options as common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..fleet.verification.refereed import Refereed


class VerificationRun(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of a verification, and how long it took."""

    effort: float
    seed: int
    seconds: float


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """How much of it, with which seed, and where the page goes."""
    parser.add_argument(
        "--effort", type=float, default=1.0, metavar="E", help="1 is about 100 s of one core"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="another than the fixed one")
    parser.add_argument("-o", "--out", metavar="PAGE.html", help="write a page with the picture")
    parser.set_defaults(command=verify_fleet)
    parser.epilog = (
        "If the fleet is right all comparisons agree with a probability of 99.9 %, with any seed"
        " and any effort. Exit codes: 0 all agree; 1 some do not; 2 bad input; 3 this machine lacks"
        " numba or scipy."
    )


def verify_fleet(options: argparse.Namespace) -> int:
    """Compare every metric with its referees, and say how that came out."""
    from ..fleet import verify
    from ..fleet.pictures import verification
    from ..fleet.verification.kernel_blocks import SEED
    from ..pages.fleet_page import write_verification_page

    # Said before the minute that it takes to make the page.
    common.require_ending(options.out, [".html"])
    common.require_folder(options.out)
    seed = SEED if options.seed is None else options.seed
    began = time.monotonic()
    with common.bad_input(ValueError):
        rows = verify(options.effort, seed=seed)
    picture = verification(rows)
    made = VerificationRun(effort=options.effort, seed=seed, seconds=time.monotonic() - began)
    if options.out is not None:
        with common.writing(options.out):
            write_verification_page(picture, Path(options.out), effort=made.effort, seed=seed)
        print(f"{options.out}: the page", file=sys.stderr)
    if options.json:
        common.print_json(_report(rows, made))
    else:
        asked = f"Seed {seed}, effort {made.effort:g}, {made.seconds:.0f} s."
        sys.stdout.write("\n".join([picture.sentence, asked, *_sentences(rows)]) + "\n")
    return common.DONE if all(row.agrees for row in rows) else common.FAILED


def _sentences(rows: "Sequence[Refereed]") -> list[str]:
    """By referee, each with its comparisons; what disagrees comes first."""
    lines = []
    for referee in dict.fromkeys(row.referee for row in rows):
        mine = sorted((row for row in rows if row.referee is referee), key=lambda row: row.agrees)
        lines += ["", f"By {referee}:"]
        for row in mine:
            lines += [f"  {row.sentence}", *(f"    ! {alarm}" for alarm in row.alarms)]
    return lines


def _report(rows: "Sequence[Refereed]", made: VerificationRun) -> dict[str, Any]:
    from ..fleet.verification.verified import JOINT_LEVEL

    return {
        "agree": all(row.agrees for row in rows),
        "joint_level": JOINT_LEVEL,
        **msgspec.structs.asdict(made),
        "rows": [msgspec.to_builtins(row) for row in rows],
    }
