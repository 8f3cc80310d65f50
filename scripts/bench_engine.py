"""The tables of the engine for run_bench.py: the tasks of bench/tasks.h, here and in the peers, cold and warm.

Every task runs in processes of its own. The first run in a fresh process is its cold time; the median of the runs
after warming up, in one process, its warm time. Both sides are measured by the same rule, and on the same files.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 8  # What a task may take in the warm process; one that takes longer has fewer runs, and the page says so.
FEWEST = 15  # Warm runs below this number are told.
TIMEOUT = 150

# The memory of WebAssembly never shrinks, so a warm peer finds its pages there. glibc would give them back to the system
# after each run; here it keeps them too, on every side.
KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}

# What a task is, its name in bench/tasks.h, and how many times as fast as loro-crdt, warm, it is promised to be.
TASKS = [
    ("apply the automerge-paper trace locally, one commit", "replay_automerge-paper", 100),
    ("the same with a commit and its update bytes for each edit", "commit_and_send", 30),
    ("20,000 random edits of a text, one commit", "random_edits", 20),
    ("import the updates of automerge-paper, read the text", "import_updates", 20),
    ("import friendsforever, written by two at once", "import_friendsforever", 20),
    ("import clownschool, written by three at once", "import_clownschool", 20),
    ("import node_nodecc, the history of a file in Git", "import_A1-node_nodecc", 20),
    ("import git-makefile, also a file in Git", "import_A2-git-makefile", 20),
    ("merge two branches of 20,000 random insertions", "merge_two_branches", 20),
    ("merge the trace's two halves, written at once", "merge_two_halves", 20),
    ("live replay of friendsforever, change by change", "live_friendsforever", None),
    ("live replay of clownschool, change by change", "live_clownschool", None),
    ("check out a version around the middle of automerge-paper, read the text", "checkout_middle", 10),
    ("and back to the latest, read the text", "checkout_back", 10),
    ("check out a version around the middle of friendsforever, read the text", "checkout_branches", 10),
    ("open a snapshot of automerge-paper that Quire wrote, read the text", "open_paper_quire", 1),
    ("open one of automerge-paper that loro-crdt wrote, read the text", "open_paper_loro", 1),
    ("open a snapshot of the two branches that Quire wrote, read the text", "open_branches_quire", 1),
    ("open one of the two branches that loro-crdt wrote, read the text", "open_branches_loro", 1),
    ("open loro-crdt's snapshot of automerge-paper, edit, export that edit", "open_edit_send", 15),
    ("save automerge-paper right after opening Quire's snapshot", "save_paper_quire", 1),
    ("save automerge-paper right after opening loro-crdt's snapshot", "save_paper_loro", 1),
    ("save the two branches right after opening Quire's snapshot", "save_branches_quire", 1),
    ("save the two branches right after opening loro-crdt's snapshot", "save_branches_loro", 1),
    ("fork automerge-paper, read the text", "fork_paper", 1),
    ("fork the two branches, read the text", "fork_branches", 1),
    ("export the history of automerge-paper as JSON text", "export_json", 5),
    ("10,000 marks of a text, one commit, read its styles", "marks", None),
    ("a map of 200,000 keys, one commit", "write_map", 5),
    ("import the updates of that map, read it", "import_map", 5),
    ("open a snapshot of that map that Quire wrote, read it", "open_map_quire", 5),
    ("open a snapshot of that map that loro-crdt wrote, read it", "open_map_loro", 5),
    ("a tree of 10,000 nodes, each moved once, one commit", "write_tree", None),
    ("import the updates of that tree, read it", "import_tree", None),
    ("import 250 peers' single edits all over a text one by one", "spread_250", None),
    ("import 500", "spread_500", None),
    ("import 1,000", "spread_1000", None),
    ("import 250 peers' single edits at one place, random ids", "one_place_random_250", None),
    ("the same at the end", "at_end_random_250", None),
    ("the same in a list", "list_random_250", None),
    ("two peers write and swap 1,000 times", "ping_pong_1000", None),
    ("2,000 times", "ping_pong_2000", None),
    ("4,000 times", "ping_pong_4000", None),
] + [(f"replay {trace}, one commit", f"replay_{trace}", None) for trace in (
    "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat", "clownschool_flat", "json-crdt-patch", "json-crdt-blog-post")]
# Tasks on sizes that double, each time with at most this growth.
GROWTH = 2.5
GROWING = [(f"{what}, {ids} ids", [f"{kind}_{ids}_{peers}" for peers in (2000, 4000, 8000)])
           for what, kind in (("peers' single edits at one place", "one_place"), ("at the end of a text", "at_end"), ("at one place of a list", "list"))
           for ids in ("ascending", "descending", "random")]
GROWING.append(("two peers write and swap, rounds", [f"ping_pong_{rounds}" for rounds in (1000, 2000, 4000)]))

HOW = [
    "Quire, loro-crdt and the native crates of loro take in the same files; the other engines do the same work in their own formats.",
    "",
    "Both sides are measured alike. Cold is the first run in a fresh process, the median of up to five processes; warm is the median of 15 or more",
    "runs after five others in one process. Where a task is too slow for so many runs, the number of runs stands behind its time. Promises are",
    "about the warm times. The packages of npm run in node: loro-crdt is WebAssembly called from JavaScript, and so are Automerge and",
    "diamond-types; Yjs is JavaScript. WebAssembly never gives memory back, so glibc is told to keep what is freed, on all sides. What each",
    "run ends in (the text, or a count) is compared between Quire and loro.",
]


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def milliseconds(value: float) -> str:
    if value < 0.001:
        return f"{value * 1e6:.0f} ns"
    if value < 0.1:
        return f"{value * 1e3:.1f} us"
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


class Side:
    """A program that runs tasks: `command`, a task's name and the seconds that it may take."""

    def __init__(self, name: str, command: list[str], tasks: list[str], quick: bool):
        self.name, self.command, self.tasks, self.quick = name, command, tasks, quick

    def once(self, task: str, seconds: float) -> dict | None:
        try:
            done = subprocess.run([*self.command, task, str(seconds)], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, cwd=ROOT, env=os.environ | KEEPS_MEMORY)
        except subprocess.TimeoutExpired:
            return {"over": TIMEOUT}
        if done.returncode != 0:
            return {"failed": done.returncode}
        return json.loads(done.stdout.strip().splitlines()[-1])

    # {cold, warm, runs, end}, or why there are none; empty if the task does not exist here.
    def measure(self, task: str) -> dict:
        if task not in self.tasks:
            return {}
        warm = self.once(task, 1 if self.quick else SECONDS)
        if "warm" not in warm:
            return warm
        firsts = [warm["first"]]
        more = 0 if self.quick or firsts[0] > 5000 else 2 if firsts[0] > 1000 else 4
        firsts += [again["first"] for again in (self.once(task, 0) for _ in range(more)) if "first" in again]
        found = {"cold": median(firsts), "warm": warm["warm"], "runs": warm["runs"], "end": warm["end"]}
        say(f"  {task}, {self.name}: {milliseconds(found['cold'])} cold, {milliseconds(found['warm'])} warm ({found['runs']} runs)")
        return found


def cell(found: dict, part: str) -> str:
    if "over" in found:
        return f"over {found['over']} s"
    if "failed" in found:
        return "does not manage"
    if part not in found:
        return ""
    few = part == "warm" and found["runs"] < FEWEST
    runs = max(found["runs"], 1)
    return milliseconds(found[part]) + (f" ({runs} run{'s' if runs > 1 else ''})" if few else "")


def both(found: dict) -> str:
    return f"{cell(found, 'cold')} / {cell(found, 'warm')}" if "cold" in found else cell(found, "cold")


def sides(build: pathlib.Path, blobs: str, quick: bool) -> list[Side]:
    subprocess.run([build / "bench/bench_blobs", blobs], check=True, timeout=600)
    peers = [str(ROOT / "scripts/node.sh"), "bench/node/engine_peers.mjs", blobs]
    listed = json.loads(subprocess.run(peers, stdout=subprocess.PIPE, text=True, check=True, timeout=600, cwd=ROOT).stdout)
    ours = str(build / "bench/engine_tasks")
    tasks = subprocess.run([ours, blobs], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    found = [Side("Quire", [ours, blobs], tasks, quick)]
    found += [Side(name, [*peers, name], tasks, quick) for name, tasks in listed.items()]
    native = build / "native/release/native_peers"
    if native.exists():
        listed = json.loads(subprocess.run([native, blobs], stdout=subprocess.PIPE, text=True, check=True).stdout)
        found += [Side(f"{name}, native", [str(native), blobs, name], tasks, quick) for name, tasks in listed.items()]
    return found


def check_ends(task: str, found: dict[str, dict]) -> None:
    ends = {name: one["end"] for name, one in found.items() if "end" in one and (name == "Quire" or "loro" in name)}
    if len(set(ends.values())) > 1:
        raise SystemExit(f"{task} does not end alike: {ends}")


def measure(build: pathlib.Path, blobs: str, quick: bool, only: str | None = None) -> dict[str, dict[str, dict]]:
    """{task: {side: what was measured}}, of the tasks whose names contain `only`."""
    everyone = sides(build, blobs, quick)
    found: dict[str, dict[str, dict]] = {}
    for task in dict.fromkeys([name for _, name, _ in TASKS] + [name for _, names in GROWING for name in names]):
        if only is not None and only not in task:
            continue
        measured = {side.name: side.measure(task) for side in everyone}
        if measured["Quire"]:
            check_ends(task, measured)
            found[task] = measured
    return found


def beside_loro(found: dict[str, dict[str, dict]]) -> list[dict]:
    rows = []
    for what, task, factor in TASKS:
        if task not in found:
            continue
        ours, theirs = found[task]["Quire"], found[task].get("loro-crdt", {})
        row = {"what": what, "ours": cell(ours, "warm"), "cells": [cell(side, part) for side in (ours, theirs) for part in ("cold", "warm")]}
        ratios = {part: theirs[part] / ours[part] for part in ("cold", "warm") if part in theirs}
        row["cells"] += [times(ratios[part]) if part in ratios else "" for part in ("cold", "warm")]
        if ratios:
            row["ratio"] = times(ratios["warm"]) + " warm"
        if ratios and factor is not None:
            row |= {"promise": f"{factor}x", "holds": ratios["warm"] >= factor}
        rows.append(row)
    return rows


def growth(found: dict[str, dict[str, dict]]) -> list[dict]:
    rows = []
    for what, tasks in GROWING:
        if not all(task in found for task in tasks):
            continue
        took = [found[task]["Quire"]["warm"] for task in tasks]
        grown = [later / earlier for earlier, later in zip(took, took[1:])]
        rows.append({"what": f"{what}: {', '.join(task.split('_')[-1] for task in tasks)}", "ours": ", ".join(milliseconds(ms) for ms in took),
                     "ratio": ", ".join(f"{one:.1f}" for one in grown), "promise": f"at most {GROWTH} for twice as many", "holds": max(grown) <= GROWTH})
    return rows


def rows_of(rows: list[dict]) -> list[str]:
    lines = ["| what | Quire, cold | Quire, warm | loro-crdt, cold | loro-crdt, warm | ratio, cold | ratio, warm | promise | |", "|---" * 9 + "|"]
    for row in rows:
        holds = {True: "holds", False: "**does not hold**"}.get(row.get("holds"), "")
        lines.append(f"| {row['what']} | {' | '.join(row['cells'])} | {row.get('promise', '')} | {holds} |")
    return lines


def others(found: dict[str, dict[str, dict]], native: bool) -> list[str]:
    names = dict.fromkeys(name for row in found.values() for name in row if name not in ("Quire", "loro-crdt") and name.endswith(", native") == native)
    lines = [f"| what | Quire | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for what, task, _ in TASKS:
        row = found.get(task, {})
        if any(row.get(name) for name in names):
            lines.append(f"| {what} | {both(row['Quire'])} | {' | '.join(both(row[name]) for name in names)} |")
    return lines if len(lines) > 2 else []


def page(found: dict[str, dict[str, dict]], rows: list[dict], grown: list[dict]) -> list[str]:
    lines = ["## The engine beside loro-crdt of npm", "", *HOW, "", *rows_of(rows), ""]
    lines += ["## The engine with many peers at one place", "", "Each peer's update is imported on its own. Warm times.", "",
              "| what | Quire | growth | promise | |", "|---|---|---|---|---|"]
    lines += [f"| {row['what']} | {row['ours']} | {row['ratio']} | {row['promise']} | {'holds' if row['holds'] else '**does not hold**'} |" for row in grown]
    for title, native in (("The engine beside others of npm", False), ("The engine beside native crates", True)):
        table = others(found, native)
        if table:
            lines += ["", f"## {title}", "", "Cold / warm.", "", *table]
    return [*lines, ""]
