#!/usr/bin/env python3
"""Holds every quoted include below src/ to the room list: check_layers.py ROOT LAYERS."""
import pathlib
import re
import sys

TEST_FILE = re.compile(r"(_test|_for_test)\.(cc|h)$|/(test|faulty)_\w+\.h$")


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    src = root / "src"
    deps = {}
    test_deps = {}  # What a room's tests may include.
    for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
        room, _, rest = line.partition(":")
        below, _, tests = rest.partition("|")
        deps[room] = set(below.split())
        test_deps[room] = deps[room] | set(tests.split())

    def room_of(path: str) -> str:
        parts = path.split("/")[:-1]
        while parts and "/".join(parts) not in deps:
            parts.pop()
        return "/".join(parts)

    faults = []
    used = {room: set() for room in deps}
    used_by_tests = {room: set() for room in deps}
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        here = str(file.relative_to(src))
        room = room_of(here)
        if not room:
            faults.append(f"{here}: stands in no room")
            continue
        is_test = bool(TEST_FILE.search(here))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            # What tests of several rooms share stands beside the rooms, and only tests see it.
            if here.endswith("_test.cc") and match.group(1).startswith("tests/") and (root / match.group(1)).exists():
                continue
            other = room_of(match.group(1))
            (used_by_tests if is_test else used)[room].add(other)
            if not (src / match.group(1)).exists():
                faults.append(f"{here}:{number}: \"{match.group(1)}\" is not a path below src/")
            elif other != room and other not in (test_deps if is_test else deps)[room]:
                faults.append(f"{here}:{number}: {room} may not include {other}")
        lines = file.read_text(encoding="utf-8").count("\n")
        if lines > 800:
            faults.append(f"{here}: {lines} lines; a file has at most 800")
    for room in deps:
        for unused in sorted(deps[room] - used[room]):
            faults.append(f"{room}: DEPS names {unused}, which no source of the room includes")
        for unused in sorted(test_deps[room] - deps[room] - used_by_tests[room]):
            faults.append(f"{room}: TESTS names {unused}, which no test of the room includes")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults in {len(deps)} rooms")
    return 1 if faults else 0


sys.exit(main())
