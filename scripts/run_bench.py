#!/usr/bin/env python3
"""Runs every benchmark and writes docs/benchmarks.md: run_bench.py --build build [--quick] [--stdout].

From within: each build/bench/*_bench, a Google Benchmark program. A benchmark called Replay/TRACE is set
beside loro-crdt from npm on the same trace, in this run. From outside: bench/node/*.mjs against the built
program and its peers. The status is 1 when a promise does not hold.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTOR = 30  # Replaying automerge-paper: this many times as fast as loro-crdt in node.
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def milliseconds(value: float) -> str:
    if value < 0.001:
        return f"{value * 1e6:.0f} ns"
    if value < 0.1:
        return f"{value * 1e3:.1f} us"
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def output_of(command: list[str], timeout: float, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=timeout, cwd=ROOT, **options)


def machine() -> list[str]:
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    compiler = output_of(["c++", "--version"], 10).stdout.splitlines()[0]
    commit = output_of(["git", "rev-parse", "--short=12", "HEAD"], 10).stdout.strip()
    return [
        f"- {datetime.date.today().isoformat()}, commit {commit or 'unknown'}",
        f"- {cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} cores, "
        f"{int(memory.group(1)) // 1048576 if memory else '?'} GiB; Linux {platform.release()}",
        f"- {compiler}, Release",
    ]


def google(program: pathlib.Path, quick: bool) -> list[dict]:
    say(f"{program.name}:")
    command = [str(program), "--benchmark_format=json"]
    if quick:
        command.append("--benchmark_min_time=0.05")
    done = output_of(command, 1800)
    if done.returncode != 0:
        raise SystemExit(f"{program.name} ended with status {done.returncode}")
    found = json.loads(done.stdout)["benchmarks"]
    for bench in found:
        if "error_message" in bench:
            say(f"  {bench['name']}: {bench['error_message']}")
        else:
            say(f"  {bench['name']}: {milliseconds(bench['real_time'] * UNITS[bench['time_unit']])}")
    return found


def node(script: str, *arguments: str, timeout: float = 1800) -> dict:
    done = output_of([str(ROOT / "scripts/node.sh"), f"bench/node/{script}", *arguments], timeout)
    if not done.stdout.strip():
        raise SystemExit(f"bench/node/{script} ended with status {done.returncode} and no result")
    return json.loads(done.stdout.strip().splitlines()[-1])


def replays(benches: list[dict], rows: list[dict]) -> None:
    ours = {}
    for bench in benches:
        match = re.match(r"Replay/([A-Za-z0-9_-]+)", bench["name"])
        if match and "error_message" not in bench and not bench["name"].endswith(("_mean", "_stddev", "_cv")):
            time = bench["real_time"] * UNITS[bench["time_unit"]]
            ours[match.group(1)] = min(time, ours.get(match.group(1), time))
    if not ours:
        return
    say("loro-crdt of npm on the same traces:")
    for trace, theirs in node("loro_trace.mjs", *sorted(ours)).items():
        if "skipped" in theirs:
            say(f"  {trace}: not compared: {theirs['skipped']}")
            continue
        if not theirs["ok"]:
            raise SystemExit(f"loro-crdt does not end in the recorded text of {trace}")
        ratio = theirs["one_commit_ms"] / ours[trace]
        promised = trace == "automerge-paper"
        rows.append({
            "what": f"replay {trace}, one commit", "ours": milliseconds(ours[trace]),
            "peer": milliseconds(theirs["one_commit_ms"]), "ratio": f"{ratio:.0f}x",
            "promise": f"{FACTOR}x" if promised else "", "holds": ratio >= FACTOR if promised else None})
        say(f"  {trace}: {rows[-1]['ours']} and {rows[-1]['peer']}, {rows[-1]['ratio']}")


def table(rows: list[dict], peer: str) -> list[str]:
    lines = [f"| what | Quire | {peer} | ratio | promise | |", "|---|---|---|---|---|---|"]
    for row in rows:
        holds = {True: "holds", False: "**does not hold**"}.get(row.get("holds"), "")
        lines.append(f"| {row['what']} | {row['ours']} | {row.get('peer', '')} | {row.get('ratio', '')} | {row.get('promise', '')} | {holds} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, and nothing is written")
    parser.add_argument("--stdout", action="store_true", help="print the page instead of writing it")
    arguments = parser.parse_args()
    os.environ.setdefault("QUIRE", str((arguments.build / "quire").resolve()))

    benches = []
    for program in sorted((arguments.build / "bench").glob("*_bench")):
        benches += google(program, arguments.quick)
    engine_rows: list[dict] = []
    replays(benches, engine_rows)
    say("peers:")
    peers = node("peers.mjs", *(["--quick"] if arguments.quick else []))
    say("sizes:")
    sizes = node("sizes.mjs")

    page = ["# Benchmarks", "", "Written by `make bench`; every figure is of one run on one machine, peers included.", "", *machine(), ""]
    page += [f"## {peers['title']}", "", *table(peers["rows"], "server-filesystem"), ""]
    page += [f"## {sizes['title']}", "", *table(sizes["rows"], "beside"), ""]
    if engine_rows:
        page += ["## The engine beside loro-crdt of npm", "",
                 "The sequential editing traces, applied splice by splice.", "", *table(engine_rows, "loro-crdt in node"), ""]
    if benches:
        page += ["## The engine's own", "", "| benchmark | time | |", "|---|---|---|"]
        for bench in benches:
            if "error_message" not in bench:
                time = milliseconds(bench["real_time"] * UNITS[bench["time_unit"]])
                page.append(f"| {bench['name']} | {time} | {bench.get('label', '')} |")
        page.append("")
    text = "\n".join(page)
    if arguments.stdout or arguments.quick:
        print(text)
    else:
        (ROOT / "docs").mkdir(exist_ok=True)
        (ROOT / "docs/benchmarks.md").write_text(text)
        say("written: docs/benchmarks.md")
    broken = [row for row in [*peers["rows"], *sizes["rows"], *engine_rows] if row.get("holds") is False]
    for row in broken:
        say(f"does not hold: {row['what']}: {row['ours']}, promised {row['promise']}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
