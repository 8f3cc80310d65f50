#!/usr/bin/env python3
"""Holds words to their rooms: check_words.py [ROOT].

A word that belongs to one room is a seam; used elsewhere, the seam is gone. Also: no source over 800
lines, no file named after nothing in particular, and in the rooms that are clean no comment that
opens with a dangling word ("Of what …", "Who may …"): a comment is a sentence with a subject.
"""
import pathlib
import re
import subprocess
import sys

# (what, where it may stand, why). A place is a room, or a file where one line says why it must.
RULES = [
    (r"\bstd::(jthread|thread|mutex|shared_mutex|recursive_mutex|condition_variable|atomic\w*|lock_guard|"
     r"unique_lock|scoped_lock)\b",
     # A rope's snapshots are read on other threads, so its nodes, and what they show, count their owners
     # atomically.
     ["src/sched/", "src/seq/rope_node_impl.h", "src/seq/tape.h"], "threads and locks live in sched/"),
    (r"\bsqlite3_\w+", ["src/store/"], "SQLite lives in store/"),
    (r"\b(std::chrono::\w+_clock|std::random_device|std::mt19937\w*|clock_gettime|gettimeofday|getrandom|"
     r"arc4random\w*|srand|std::time)\b",
     # poll() and what the disk stamps go by the machine's clock, whatever clock a test would give.
     ["src/base/clock.", "src/sched/", "src/fs/beneath.cc", "src/server/launch.cc", "src/server/local_client.cc",
      "src/server/local_socket.cc", "src/server/shim.cc"], "clock and chance enter through base/clock.h"),
    (r"\bstd::regex\b", [], "std::regex recurses on its input; use text/search.h"),
    (r"#\s*include\s*<iostream>", ["src/cli/"], "<iostream> brings static constructors; only cli/ prints"),
    (r"\busing\s+namespace\s+std\s*;", [], "names say where they come from"),
]
# Tests drive threads and clocks from outside, examples are programs of their own; the product's own code may not.
EVERYWHERE = re.compile(r"(_test\.(cc|h)$|/(test|faulty)_\w+\.h$|^tests/|^bench/|^fuzz/|^examples/)")
TEST_TOO = {r"\bstd::regex\b", r"\busing\s+namespace\s+std\s*;"}
BAD_NAMES = re.compile(r"(^|_)(v2|old|new|legacy|util|utils|misc|common|helper|helpers|manager)(_|\.|$)")
LONGEST = 800
# A comment that opens so has no subject.
DANGLING = re.compile(r"^(Of|What|Whatever|Where|Who|Whose|Whoever|As|By|The same|Whether)\b")
# These begin in one way and still have a subject: "As in a file, …", "By default …".
HAS_SUBJECT = re.compile(r"^(As in |As soon as |As long as |By default)")
# A line ending so is allowed, with its reason.
EXCUSE = re.compile(r"//\s*words:\s*\S+")


def files(root: pathlib.Path) -> list[str]:
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True)
    if listing.returncode == 0:
        return [name for name in listing.stdout.splitlines() if (root / name).is_file()]
    return [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and "node_modules" not in p.parts]


def code_of(line: str) -> str:
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//", 1)[0]


def comment_of(line: str) -> str:
    """The comment of a line without its slashes; "" if it has none."""
    parts = re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//", 1)
    return parts[1].strip() if len(parts) == 2 else ""


def dangling(lines: list[str]) -> list[int]:
    """The numbers of the lines on which a comment opens with a dangling word."""
    found = []
    for number, line in enumerate(lines, 1):
        before = lines[number - 2].strip() if number > 1 else ""
        # An empty line of a comment begins another paragraph.
        goes_on = line.strip().startswith("//") and before.startswith("//") and before != "//"
        comment = comment_of(line)
        if not goes_on and DANGLING.search(comment) and not HAS_SUBJECT.search(comment):
            found.append(number)
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults = []
    for name in sorted(files(root)):
        path = pathlib.Path(name)
        if path.suffix not in (".cc", ".h", ".py", ".mjs", ".ts", ".sh"):
            continue
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        if len(lines) > LONGEST:
            faults.append(f"{name}: {len(lines)} lines; a file has at most {LONGEST}")
        if BAD_NAMES.search(path.name):
            faults.append(f"{name}: the name says nothing of what it holds")
        if path.suffix not in (".cc", ".h"):
            continue
        for number in dangling(lines):
            faults.append(f"{name}:{number}: the comment opens with a dangling word; begin with its subject")
        outside = bool(EVERYWHERE.search(name))
        for number, line in enumerate(lines, 1):
            if EXCUSE.search(line):
                continue
            code = code_of(line)
            for pattern, places, why in RULES:
                if outside and pattern not in TEST_TOO:
                    continue
                found = re.search(pattern, code)
                if found and not any(name.startswith(place) for place in places):
                    faults.append(f"{name}:{number}: {found.group(0)}: {why}")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
