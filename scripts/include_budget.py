#!/usr/bin/env python3
"""How many of our own headers a source pulls in, directly or not: include_budget.py [ROOT].

The target is a median of at most 15 over all sources and a 90th percentile of at most 40. crdt/doc/doc.h and
kernel/core/kernel.h therefore name what they hand out, and a source includes the header of each view or answer that it
uses. The check fails when one of the two grows beyond what is RECORDED. The table says which
sources are the heaviest. What assembles the program (cli/) is counted as everything else.
"""
import pathlib
import re
import sys

MEDIAN, P90 = 15, 40
# The median and the 90th percentile of 2026-11-27. The second is over its
# target. Lower them whenever they fall.
RECORDED = (15, 49)


def main() -> int:
    src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
    direct: dict[str, list[str]] = {}
    for file in src.rglob("*"):
        if file.suffix in (".h", ".cc"):
            found = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(encoding="utf-8"), re.M)
            direct[str(file.relative_to(src))] = found

    def reached(source: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(direct[source])
        while waiting:
            header = waiting.pop()
            if header not in seen:
                seen.add(header)
                waiting += direct.get(header, [])
        return seen

    counts = sorted((len(reached(name)), name) for name in direct
                    if name.endswith(".cc") and not name.endswith("_test.cc"))
    if not counts:
        print("no sources")
        return 1
    median = counts[len(counts) // 2][0]
    p90 = counts[min(len(counts) - 1, len(counts) * 9 // 10)][0]
    print(f"{len(counts)} sources; headers of ours in each: median {median}, 90th percentile {p90}")
    for count, name in counts[-5:]:
        print(f"  {count:4} {name}")
    if median > MEDIAN:
        print(f"short of the target: the median is {median}, the target {MEDIAN}")
    if p90 > P90:
        print(f"short of the target: the 90th percentile is {p90}, the target {P90}")
    return 1 if (median > RECORDED[0] or p90 > RECORDED[1]) else 0


sys.exit(main())
