#!/usr/bin/env python3
"""Holds every quoted include below src/ to the room list: check_layers.py ROOT LAYERS."""
import pathlib
import re
import sys


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    src = root / "src"
    deps = {}
    for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
        room, _, below = line.partition(":")
        deps[room] = set(below.split())

    def room_of(path: str) -> str:
        parts = path.split("/")[:-1]
        while parts and "/".join(parts) not in deps:
            parts.pop()
        return "/".join(parts)

    faults = []
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        here = str(file.relative_to(src))
        room = room_of(here)
        if not room:
            faults.append(f"{here}: stands in no room")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            # What tests of several rooms share stands beside the rooms, and only tests see it.
            if here.endswith("_test.cc") and match.group(1).startswith("tests/") and (root / match.group(1)).exists():
                continue
            other = room_of(match.group(1))
            if not (src / match.group(1)).exists():
                faults.append(f"{here}:{number}: \"{match.group(1)}\" is not a path below src/")
            elif other != room and other not in deps[room]:
                faults.append(f"{here}:{number}: {room} may not include {other}")
        lines = file.read_text(encoding="utf-8").count("\n")
        if lines > 800:
            faults.append(f"{here}: {lines} lines; a file has at most 800")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults in {len(deps)} rooms")
    return 1 if faults else 0


sys.exit(main())
