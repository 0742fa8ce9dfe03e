"""What a right call of each tool in a folder costs, against reading its text once, and what compiling the tool costs.

    python bench/sweep/speed.py FOLDER...

Each tool is called as its schema has it. A ratio is taken tool by tool, in one run; the table shows the median tool and
the one at nine tenths.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import jsonschema_rs
import orjson
from corpus import CorpusError, Tool, tools
from sample import right_calls
from schema import Document

from argfit import Fitter

REPEATS = 7
SLICE_NS = 200_000  # of one repeat of one candidate
Ratios = dict[str, float]


def nanoseconds(runs: dict[str, Callable[[], object]]) -> Ratios:
    """The least time of each candidate, measured in turns."""
    loops, least = {}, dict.fromkeys(runs, float("inf"))
    for name, run in runs.items():
        run()
        loops[name] = max(1, int(SLICE_NS / max(1.0, timed(run, 10))))
    for _ in range(REPEATS):
        for name, run in runs.items():
            least[name] = min(least[name], timed(run, loops[name]))
    return least


def timed(run: Callable[[], object], loops: int) -> float:
    laps = range(loops)
    start = time.perf_counter_ns()
    for _ in laps:
        run()
    return (time.perf_counter_ns() - start) / loops


def ratios(found: list[Tool]) -> Iterator[Ratios]:
    for tool in found:
        document = Document(tool.schema)
        for call in list(right_calls(document, Random(tool.name), 2))[-1:]:  # noqa: S311 # the same calls each time
            text = json.dumps(call).encode()
            fitter = Fitter(tool.schema)
            took = nanoseconds(
                {
                    "read": lambda text=text: orjson.loads(text),
                    "fit": lambda fitter=fitter, call=call: fitter.fit(call),
                    "fit_json": lambda fitter=fitter, text=text: fitter.fit_json(text),
                    "compile": lambda tool=tool: Fitter(tool.schema),
                    "judge": lambda tool=tool: jsonschema_rs.validator_for(tool.schema, offline=True),
                }
            )
            yield {
                "fit / orjson.loads": took["fit"] / took["read"],
                "fit_json / orjson.loads": took["fit_json"] / took["read"],
                "compiling / jsonschema-rs's own": took["compile"] / took["judge"],
            }


def main() -> int:
    folders = [Path(name) for name in sys.argv[1:]]
    if not folders:
        print("speed: name a folder of *.json files with tools", file=sys.stderr)
        return 2
    try:
        measured = list(ratios(tools(folders)))
    except CorpusError as error:
        print(f"speed: {error}", file=sys.stderr)
        return 2
    print(f"{len(measured)} tools, one right call each\n")
    for name in measured[0]:
        figures = sorted(one[name] for one in measured)
        middle, high = statistics.median(figures), figures[int(len(figures) * 0.9)]
        print(f"{name:32} median {middle:5.2f}   nine tenths {high:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
