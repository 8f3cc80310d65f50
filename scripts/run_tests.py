#!/usr/bin/env python3
"""Runs every test that a build folder registers and counts the cases inside.

  run_tests.py --build build [--jobs 2] [--only REGEX] [--results out.json] [--no-total]
  run_tests.py --sum release.json dev.json

A GoogleTest program, a node test file and a check script are each one ctest entry; the first two are
counted by their cases. Ends with one line, `N passed, N failed, N skipped`, after naming every failure
and every skipped test with its reason. Logs stay in BUILD/test-logs.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree


@dataclasses.dataclass
class Entry:
    """One registered test, as ctest knows it."""

    name: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    timeout: float
    skip_code: int | None
    label: str


@dataclasses.dataclass
class Outcome:
    name: str
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    seconds: float = 0
    log: str = ""


def registered(build: pathlib.Path) -> list[Entry]:
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                             capture_output=True, text=True, check=True).stdout
    entries = []
    for test in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        labels = properties.get("LABELS", ["room"])
        entries.append(Entry(
            name=test["name"], command=test.get("command", []),
            folder=properties.get("WORKING_DIRECTORY", str(build)), environment=environment,
            timeout=float(properties.get("TIMEOUT", 600)),
            skip_code=properties.get("SKIP_RETURN_CODE"), label=labels[0]))
    return entries


def last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("SKIPPED: ") if lines else "no reason given"


def skip_reason(log: pathlib.Path, suite: str, case: str) -> str:
    """What GTEST_SKIP() << said: GoogleTest 1.12 prints it, but leaves it out of its report."""
    said = re.search(rf"\[ RUN      \] {re.escape(suite)}\.{re.escape(case)}\n.*?: Skipped\n(.*?)\n\[",
                     log.read_text(errors="replace"), re.DOTALL)
    return " ".join(said.group(1).split()) if said and said.group(1).strip() else "no reason given"


def read_gtest(report: pathlib.Path, outcome: Outcome) -> None:
    for suite in json.loads(report.read_text()).get("testsuites", []):
        for case in suite.get("testsuite", []):
            name = f'{outcome.name}: {suite["name"]}.{case["name"]}'
            if case.get("failures"):
                outcome.failed.append(name)
            elif case.get("result") == "SKIPPED":
                outcome.skipped.append((name, skip_reason(report.with_suffix(".log"), suite["name"], case["name"])))
            elif case.get("status") == "NOTRUN":
                outcome.skipped.append((name, "disabled in the source"))
            else:
                outcome.passed += 1


def read_junit(report: pathlib.Path, outcome: Outcome) -> None:
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = f'{outcome.name}: {case.get("name")}'
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed.append(name)
        elif skipped is not None:
            outcome.skipped.append((name, skipped.get("message") or skipped.get("type") or "no reason given"))
        else:
            outcome.passed += 1


def run(entry: Entry, logs: pathlib.Path) -> Outcome:
    outcome = Outcome(entry.name)
    if not entry.command:
        outcome.failed.append(f"{entry.name}: its program was not built")
        return outcome
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", entry.name)
    log = logs / f"{safe}.log"
    report = logs / f"{safe}.report"
    report.unlink(missing_ok=True)
    outcome.log = str(log)
    environment = os.environ | entry.environment
    if entry.label in ("room", "suite"):
        environment["GTEST_OUTPUT"] = f"json:{report}"
    elif entry.label == "node":
        environment["NODE_JUNIT"] = str(report)

    began = time.monotonic()
    with log.open("wb") as sink, tempfile.TemporaryDirectory(prefix="quire-test-", ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o755)  # Tests that drop their rights work below it.
        environment["TMPDIR"] = scratch
        child = subprocess.Popen(entry.command, cwd=entry.folder, env=environment, stdout=sink,
                                 stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = child.wait(timeout=entry.timeout)
            ended = f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"
        except subprocess.TimeoutExpired:
            status = -1
            ended = f"no end after {entry.timeout:.0f} s"
        # What the test started and left behind is in its process group; nothing else is.
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    outcome.seconds = time.monotonic() - began

    words = log.read_text(errors="replace")
    if entry.skip_code is not None and status == entry.skip_code:
        outcome.skipped.append((entry.name, last_words(words)))
        return outcome
    try:
        if entry.label in ("room", "suite"):
            read_gtest(report, outcome)
        elif entry.label == "node":
            read_junit(report, outcome)
        elif status == 0:
            outcome.passed += 1
    except (OSError, ValueError, xml.etree.ElementTree.ParseError):
        outcome.failed.append(f"{entry.name}: left no report ({ended})")
    if status != 0 and not outcome.failed:
        outcome.failed.append(f"{entry.name}: {ended}")
    if status == 0 and not outcome.failed and not outcome.passed and not outcome.skipped:
        outcome.failed.append(f"{entry.name}: ran no test")
    return outcome


def show(outcome: Outcome, entry: Entry) -> None:
    count = f"{outcome.passed} passed"
    if outcome.skipped:
        count += f", {len(outcome.skipped)} skipped"
    mark = "FAIL" if outcome.failed else "ok  "
    print(f"{mark} {entry.name:<28} {outcome.seconds:7.1f} s  {count}", flush=True)
    if not outcome.failed:
        return
    for name in outcome.failed:
        print(f"     {name}")
    if outcome.log and pathlib.Path(outcome.log).exists():
        lines = pathlib.Path(outcome.log).read_text(errors="replace").splitlines()
        telling = [n for n, line in enumerate(lines) if re.search(r"Failure|ERROR:|not ok|runtime error|FAILED", line)]
        start = max(0, telling[0] - 3) if telling else max(0, len(lines) - 30)
        for line in lines[start:start + 40]:
            print(f"     | {line[:220]}")
        print(f"     the whole of it: {outcome.log}", flush=True)


def run_all(entries: list[Entry], logs: pathlib.Path, jobs: int) -> list[Outcome]:
    outcomes = []
    printing = threading.Lock()

    def one(entry: Entry) -> None:
        outcome = run(entry, logs)
        with printing:
            outcomes.append(outcome)
            show(outcome, entry)

    longest_first = sorted(entries, key=lambda entry: -entry.timeout)
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        list(pool.map(one, longest_first))
    return outcomes


def total(passed: int, failed: int, skipped: int) -> str:
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def sum_up(files: list[str]) -> int:
    passed = failed = skipped = 0
    for file in files:
        try:
            result = json.loads(pathlib.Path(file).read_text())
        except OSError:
            print(f"{file}: not there, so its run did not come to an end")
            failed += 1
            continue
        passed += result["passed"]
        failed += len(result["failed"])
        skipped += len(result["skipped"])
        for name in result["failed"]:
            print(f'failed  [{result["build"]}] {name}')
        for name, reason in result["skipped"]:
            print(f'skipped [{result["build"]}] {name}: {reason}')
    print(total(passed, failed, skipped))
    return 1 if failed or not passed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="run the tests whose name this finds")
    parser.add_argument("--except", dest="excluded", default="", help="leave out the tests whose name this finds")
    parser.add_argument("--results", type=pathlib.Path, help="also write the counts there, for --sum")
    parser.add_argument("--no-total", action="store_true", help="leave the closing line to --sum")
    parser.add_argument("--sum", nargs="+", metavar="RESULTS")
    arguments = parser.parse_args()
    if arguments.sum:
        return sum_up(arguments.sum)
    if not arguments.build:
        parser.error("--build or --sum is needed")

    build = arguments.build.resolve()
    if arguments.results:
        arguments.results.parent.mkdir(parents=True, exist_ok=True)
        arguments.results.unlink(missing_ok=True)
    logs = build / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    entries = [e for e in registered(build) if re.search(arguments.only, e.name)
               and not (arguments.excluded and re.search(arguments.excluded, e.name))]
    outcomes = run_all(entries, logs, max(1, arguments.jobs))

    passed = sum(o.passed for o in outcomes)
    failed = [name for o in outcomes for name in o.failed]
    skipped = [pair for o in outcomes for pair in o.skipped]
    if arguments.results:
        arguments.results.write_text(json.dumps(
            {"build": build.name, "passed": passed, "failed": failed, "skipped": skipped}))
    print()
    for name in failed:
        print(f"failed  {name}")
    for name, reason in skipped:
        print(f"skipped {name}: {reason}")
    if not arguments.no_total:
        print(total(passed, len(failed), len(skipped)))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
