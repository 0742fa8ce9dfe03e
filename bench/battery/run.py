"""Which systems recover bad arguments, which refuse them, and which pass something else on.

    python bench/battery/run.py [--seed N] [--calls N] [--out FILE]

Exits with 1 where argfit breaks its word: with all repairs nothing is missed and nothing is wrong; without any,
nothing is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import calls
import report
from calls import Call
from parts import Part, TableError
from report import Board, Judged
from systems import ARGFIT_ALL, ARGFIT_EXACT, SYSTEMS, System, silence
from verdicts import Outcome, verdict

PROMISES = {ARGFIT_ALL: (Outcome.MISSED, Outcome.WRONG), ARGFIT_EXACT: (Outcome.WRONG,)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the composed calls (1)")
    parser.add_argument("--calls", type=int, default=2000, metavar="N", help="how many calls to compose (2000)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the page, in Markdown")
    return parser.parse_args()


def board(title: str, wanted: Sequence[tuple[Part | None, Call]], *, composed: bool = False) -> Board:
    judged = {}
    for system in SYSTEMS:
        print(f"{title}: {system}", file=sys.stderr)
        judged[system] = [judge(part, call, system) for part, call in wanted]
    return Board(title, [call for _, call in wanted], judged, composed)


def judge(part: Part | None, call: Call, system: System) -> Judged:
    result = system(call.schema, call.fields, call.text)
    return Judged(part, call, result, verdict(call, result))


def earlier(single: Board) -> Board:
    """The part of the board that was there before the rest."""
    judged = {
        system: [one for one in found if one.part is not None and one.part.earlier]
        for system, found in single.judged.items()
    }
    return Board("The earlier, shorter board", [one.call for one in judged[SYSTEMS[0]]], judged)


def broken(boards: Sequence[Board]) -> Iterator[str]:
    for system, outcomes in PROMISES.items():
        for one in boards:
            for judged in one.judged[system]:
                if judged.verdict.outcome in outcomes:
                    told = judged.part or ", ".join(judged.verdict.differing) or "refused"
                    yield f"{system}: {judged.verdict.outcome}: {told}\n  {judged.call.text}"


def main() -> int:
    options = arguments()
    silence()
    try:
        calls.check()
    except TableError as error:
        print(error, file=sys.stderr)
        return 2
    single = board("Single arguments", calls.single())
    several = board(
        "Several at once", [(None, call) for call in calls.composed(options.calls, options.seed)], composed=True
    )
    boards = (earlier(single), single, several)
    print(report.versions())
    for text in (*report.boards_as_text(boards), *report.wrong_as_text(single)):
        print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        page = report.page(boards, single, seed=options.seed, calls=options.calls)
        options.out.write_text(page, encoding="utf-8")
    complaints = list(broken((single, several)))
    for complaint in complaints:
        print(f"\nNOT KEPT: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
