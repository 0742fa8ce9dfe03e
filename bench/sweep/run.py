"""The corpus sweep: every tool of real servers, called rightly and called wrongly, fitted, and judged by the contract.

    python bench/sweep/run.py FOLDER... [--calls N] [--seed N] [--show]

Rules
- Nothing here asks argfit what it would do. What may come out is computed from the schema, from what
  was mangled, and from an independent judge (jsonschema-rs).
- A right call is one the judge takes, spelled as the schema wants it. It must come back untouched.
- A mangled call that the judge takes is right too, and must come back untouched: only spelling may change.
- What the contract leaves open (a choice between branches) may end as the right call or as a refusal,
  never as anything else.

Exits with 1 when anything wrong came out; a safe recovery that was missed is printed and is no failure.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from corpus import CorpusError, Tool, tools
from tally import Tally, swept
from trial import MISSED, MODES, WRONG

TITLES = {"exact": "Exact changes only", "all": "With every repair"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders of *.json files with tools")
    parser.add_argument("--calls", type=int, default=4, metavar="N", help="right calls per tool (default 4)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed makes other calls")
    parser.add_argument("--show", action="store_true", help="print schema, arguments and outcome of what is listed")
    options = parser.parse_args()
    if not options.folders:
        parser.error("name a folder of *.json files with tools: each a tools/list result, a list of tools or one tool")
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder: name one that holds *.json files with tools")
    return options


def sweep_all(found: list[Tool], calls: int, seed: int) -> Tally:
    whole = Tally()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for tally in pool.map(partial(swept, calls=calls, seed=seed), found, chunksize=4):
            whole.add(tally)
    return whole


def print_findings(tally: Tally, *, show: bool) -> None:
    for outcome in (WRONG, MISSED):
        for finding in tally.listed(outcome):
            print(f"{outcome}: {finding}")
            if show:
                print(f"  {finding.reproducer()}")


def main() -> int:
    options = arguments()
    began = time.monotonic()
    try:
        found = tools(options.folders)
    except CorpusError as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    tally = sweep_all(found, options.calls, options.seed)
    for mode in MODES:
        print("\n".join([TITLES[mode], "=" * len(TITLES[mode]), "", *tally.lines(mode)]))
    for line in tally.without:
        print(f"not swept: {line}")
    print_findings(tally, show=options.show)
    print(f"{len(found)} tools, {tally.calls} right calls, {sum(tally.counts.values())} fits judged.")
    print(f"WRONG: {tally.total(WRONG)}. Missed: {tally.total(MISSED)}. Took {time.monotonic() - began:.0f} s.")
    return 1 if tally.total(WRONG) else 0


if __name__ == "__main__":
    sys.exit(main())
