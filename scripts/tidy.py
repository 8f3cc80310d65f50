#!/usr/bin/env python3
"""clang-tidy over C++ sources: tidy.py [--jobs N] [--build build] [--checks MORE] FILES.

Most of what clang-tidy does in one of our sources it does in the library's headers that the source includes.
So sources of one folder that compile alike are read together, in a source that includes them; those that define
the same name in their unnamed namespaces go into different ones. What was found is printed; status 1 then.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOGETHER = 16  # Sources read at once at most: a report comes soon, and memory stays below 1 GB a job.
CLANG = shutil.which("clang++") or "clang++-14"  # The latter comes with Debian's clang-tidy.
WARNINGS = ["-Wno-unknown-warning-option", "-Wno-sign-conversion"]
# The analyser passes over what a source includes unless it is told.
ANALYSER = ["-Xclang", "-analyzer-opt-analyze-headers"]
NOISE = re.compile(r"^(\d+ warnings? (generated|treated)|Suppressed \d+|Use -header-filter|Use -system-headers)")


def commands(build: pathlib.Path) -> dict[str, tuple[str, ...]]:
    """Of each source, the flags that it is compiled with: the first target's where several compile it."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        flags = []
        words = iter(shlex.split(entry["command"])[1:])
        for word in words:
            if word in ("-o", "-MF", "-MT", "-MQ"):
                next(words)
            elif word not in ("-c", "-MD", "-MMD", entry["file"]):
                flags.append(word)
        found.setdefault(str(pathlib.Path(entry["file"]).resolve()), tuple(flags))
    return found


def source_of(files: list[str], folder: pathlib.Path) -> pathlib.Path:
    if len(files) == 1:
        return pathlib.Path(files[0])
    text = "".join(f'#include "{file}"  // NOLINT\n' for file in files)
    path = folder / f"{pathlib.Path(files[0]).stem}_{hashlib.sha1(text.encode()).hexdigest()[:8]}.cc"
    path.write_text(text)
    return path


def in_conflict(files: list[str], flags: tuple[str, ...], folder: pathlib.Path) -> set[str]:
    """Those that do not compile after the others."""
    if len(files) == 1:
        return set()
    done = subprocess.run([CLANG, *flags, *WARNINGS, "-w", "-fsyntax-only", "-ferror-limit=0", str(source_of(files, folder))],
                          cwd=ROOT, capture_output=True, text=True, timeout=600)
    if done.returncode == 0:
        return set()
    named = {str(pathlib.Path(match.group(1)).resolve()) for match in
             re.finditer(r"^([^\s:]+):\d+:\d+: (?:fatal )?error:", done.stderr, re.MULTILINE)}
    wrong = {file for file in files[1:] if file in named}
    # An error in a header, or in the first one: whom it is with is unknown.
    return wrong or set(files[1:])


def batches(files: list[str], flags: tuple[str, ...], folder: pathlib.Path) -> list[list[str]]:
    out = []
    left = files
    while left:
        now, left = left[:TOGETHER], left[TOGETHER:]
        while wrong := in_conflict(now, flags, folder):
            now = [file for file in now if file not in wrong]
            left = sorted(wrong) + left
        out.append(now)
    return out


def tidy(files: list[str], flags: tuple[str, ...], folder: pathlib.Path, checks: str) -> str:
    done = subprocess.run(["clang-tidy", "--quiet", f"--checks={checks}", r"--header-filter=/(src|tests)/.*\.(h|cc)$",
                           str(source_of(files, folder)), "--", *flags, *WARNINGS, *ANALYSER],
                          cwd=ROOT, capture_output=True, text=True, timeout=3600)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not NOISE.match(line)]
    if done.returncode != 0 and not said:
        said = [f"clang-tidy ended with status {done.returncode} on {' '.join(files)}"]
    return "\n".join(said) if done.returncode != 0 else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--checks", default="", help="added to those of .clang-tidy")
    parser.add_argument("files", nargs="+")
    wanted = parser.parse_args()

    folder = wanted.build.resolve() / "tidy"
    folder.mkdir(exist_ok=True)
    known = commands(wanted.build)
    alike: dict[tuple, list[str]] = {}
    for name in wanted.files:
        file = str(pathlib.Path(name).resolve())
        if file in known:
            alike.setdefault((str(pathlib.Path(file).parent), known[file]), []).append(file)
        else:
            print(f"tidy.py: {name} is not compiled by any target", file=sys.stderr)
            return 2
    found = False
    read = 0
    total = len(wanted.files)
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
        def whole(group):
            (_, flags), files = group
            for batch in batches(sorted(files), flags, folder):
                began = time.monotonic()
                yield batch, tidy(batch, flags, folder, wanted.checks), time.monotonic() - began
        for future in concurrent.futures.as_completed([pool.submit(lambda g=group: list(whole(g))) for group in alike.items()]):
            for batch, said, took in future.result():
                read += len(batch)
                if sys.stderr.isatty() or os.environ.get("QUIRE_VERBOSE"):
                    print(f"  {read} of {total}: {len(batch)} together, {took:.0f} s", file=sys.stderr, flush=True)
                if said:
                    found = True
                    print(said, flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
