"""`kiplab fleet verify`: the fleet's numbers beside independent calculations."""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import common_options as common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..fleet.verification.refereed import Refereed


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
    from ..fleet.verification.verified import JOINT_LEVEL
    from ..pages.fleet_page import verification_page

    # Said before the minute that it takes to make the page.
    common.require_ending(options.out, [".html"])
    common.require_folder(options.out)
    effort, seed = options.effort, SEED if options.seed is None else options.seed
    began = time.monotonic()
    with common.bad_input(ValueError):
        rows = verify(effort, seed=seed)
    picture = verification(rows)
    agree, seconds = all(row.agrees for row in rows), time.monotonic() - began
    if options.out is not None:
        with common.writing(options.out):
            page = verification_page(picture, effort=effort, seed=seed)
            Path(options.out).write_text(page, "utf-8")
        print(f"{options.out}: the page", file=sys.stderr)
    if options.json:
        report = {"agree": agree, "joint_level": JOINT_LEVEL, "effort": effort, "seed": seed}
        common.print_json({**report, "seconds": seconds, "rows": rows})
    else:
        run = f"Seed {seed}, effort {effort:g}, {seconds:.0f} s."
        sys.stdout.write("\n".join([picture.sentence, run, *_sentences(rows)]) + "\n")
    return common.DONE if agree else common.FAILED


def _sentences(rows: "Sequence[Refereed]") -> list[str]:
    """By referee, each with its comparisons; what disagrees comes first."""
    lines = []
    for referee in dict.fromkeys(row.referee for row in rows):
        mine = sorted((row for row in rows if row.referee is referee), key=lambda row: row.agrees)
        lines += ["", f"By {referee}:"]
        for row in mine:
            lines += [f"  {row.sentence}", *(f"    ! {alarm}" for alarm in row.alarms)]
    return lines
