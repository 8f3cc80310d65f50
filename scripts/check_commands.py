#!/usr/bin/env python3
"""Types every command of README.md, docs/ and the help, as printed, at a terminal in a new workspace.

usage: check_commands.py QUIRE [--list] [--only REGEX] [--verbose]

A command has to succeed, or, where it is named in FIRST below, to refuse with words that say what has to be
there first. What a test cannot do is in LEFT_OUT with its reason; it is counted and printed, never silent.

Commands come from three places:
  - fenced blocks without a language or with `sh` or `console`: the lines after "$ ", or, where a block has none, the
    lines that begin with a program of PROGRAMS. A block is one session: its commands run in order in one workspace,
    and what it shows below a command is compared with what the command printed, where numbers and times may differ;
  - words in backticks that begin with such a program. With words in capitals (NAME), alternatives or an ellipsis they
    are a form, and so is the name of a command that takes more: its command and its options have to be in the help;
  - the examples and first steps of `quire --help` and of the help of each command.

Each workspace is a copy of a small project in a home folder of its own, as a newcomer has one, and each terminal is a
pseudo-terminal, at which a question is answered with "y". Beside `quire` on the PATH are a `claude` that records what
it is given and makes the first calls of an MCP client, and an editor that changes nothing.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PROGRAMS = ("quire", "make", "cmake", "ctest", "ninja", "git", "claude", "sudo", "cd", "source", "export", "echo", "python3")
TIME_LIMIT = 60  # Seconds for one command; none here takes five.

# What is typed nowhere here, by the beginning of the command, and why.
LEFT_OUT = {
    "make": "builds or measures this tree; the runner of the tests is itself one of them",
    "cmake": "configures and builds this tree; the test `library` does it in a folder of its own",
    "ninja": "builds this tree",
    "ctest": "runs this tree's tests",
    "sudo": "changes the machine",
    "git clone": "needs the network",
}

# What refuses in a new workspace, and what it then has to say is missing.
FIRST = {
    r"quire approvals (approve|deny|revoke) ap_": r"no approval 'ap_1f2e3d4c5b6a'; .*approvals list",
    r"quire view adopt \.\./ada": r"there is no directory",
    r"quire (view drop|land|refresh) \.\./ada": r"ada is not adopted; no tree is",
    r"quire hook( --agent NAME)?$": r"hook reads an agent's event from standard input",
    r"quire context render": r"no agent:ada here: quire\.toml does not name it",
    r"quire (backup|fsck|salvage)": r"there is no store in .*restore",
    r"quire restore ": r"there is no file",
    r"quire edit ": r"no memory block .*makes one",
    r"quire export ": r"owns no memory here; .* lists",
    r"quire export$": r"name what to export",
    r"quire import ada\.memory": r"No such file",
    r"quire mounts (show|check|approve) fs": r"\[tools\.mount\.NAME\]",
    r"quire sources run diagnostics": r"\[sources\.NAME\]",
    r"quire undo b1_2_45": r"no block 'b1_2_45'; .* shows those there are",
    r"quire undo src/main\.cc": r"no change to src/main\.cc that is still to be undone",
    r"quire undo --actor agent:ada --since": r"no change here since then that is still to be undone",
    r"quire undo --last-command": r"no command of human:\w+ has changed anything",
    r"quire undo --call 54": r"there is no call 54; .* shows those there are",
    r"quire diff src/main\.cc --from 3": r"there is no version '[35]' of this block; its history shows",
    r"quire rollback src/main\.cc 3": r"no rule in quire\.toml matches src/main\.cc",
    r"quire flush": r"no section \[files\.git\]; add one",
    r"git (log|diff) .*refs/quire/main": r"unknown revision",
}

CLAUDE = '''#!/usr/bin/env python3
# Stands for an MCP client's program. `claude mcp add NAME -- COMMAND...` runs the server as the client would; `claude`
# alone runs the servers of the project's .mcp.json.
import json, os, subprocess, sys
words = sys.argv[1:]
if not words:
    servers = [[server["command"], *server["args"]] for server in json.load(open(".mcp.json"))["mcpServers"].values()]
elif words[:2] == ["mcp", "add"] and "--" in words:
    servers = [words[words.index("--") + 1:]]
else:
    sys.exit("claude: this stand-in only knows: mcp add NAME -- COMMAND...")
calls = [("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "stand-in", "version": "1"}}),
         ("tools/list", {})]
lines = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}) + "\\n" for n, (m, p) in enumerate(calls))
for server in servers:
    done = subprocess.run(server, input=lines, capture_output=True, text=True, timeout=30)
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    if not answers.get(1, {}).get("result", {}).get("tools"):
        sys.exit(f"claude: the server lists no tools: {done.stdout} {done.stderr}")
print("claude: the servers answer")
'''

FILES = {
    "README.md": "# A project\n\nIt does one thing.\n",
    "notes.md": "first\nsecond\n",
    "src/main.cc": "int main() { return 0; }\n",
}


@dataclasses.dataclass
class Step:
    command: str
    shown: list[str]  # The output that the document shows, if any.


@dataclasses.dataclass
class Session:
    place: str
    steps: list[Step]


@dataclasses.dataclass
class Verdict:
    typed: int = 0
    refused: list[str] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)
    faults: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)


def is_command(line):
    words = line.split()
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    return bool(words) and words[0] in PROGRAMS


def is_whole(command):
    """Whether the shell would ask for no further line."""
    if command.rstrip().endswith("\\"):
        return False
    try:
        shlex.split(command, comments=True)
        return True
    except ValueError:
        return False


def steps_of(lines):
    """The steps of a fenced block; none if it shows something else."""
    marked = any(line.startswith("$ ") for line in lines)
    if not marked and not all(is_command(line) for line in lines if line.strip()):
        return []
    steps, pending = [], None
    for line in lines:
        if pending is not None:
            pending += "\n" + line
        elif marked and not line.startswith("$ "):
            if steps:
                steps[-1].shown.append(line)
            continue
        elif line.strip():
            pending = line[2:] if marked else line
        if pending is not None and is_whole(pending):
            steps.append(Step(pending, []))
            pending = None
    if pending is not None:
        steps.append(Step(pending, []))
    return steps


def of_document(path):
    """(sessions, words in backticks with their places) of a Markdown file."""
    sessions, inline, fence, block = [], [], None, []
    name = path.relative_to(SOURCE)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            if fence is None:
                fence, start, block = line.strip()[3:].strip(), number, []
            else:
                steps = steps_of(block) if fence in ("", "sh", "bash", "console") else []
                if steps:
                    sessions.append(Session(f"{name}:{start}", steps))
                fence = None
        elif fence is not None:
            block.append(line)
        else:
            inline += [(f"{name}:{number}", words) for words in re.findall(r"`([^`]+)`", line) if is_command(words)]
    return sessions, inline


class Help:
    """`quire --help` and the help of each command, by the words of the command."""

    def __init__(self, quire):
        self.pages = {}
        self._read(quire, ())

    def _read(self, quire, words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
        page = subprocess.run([quire, *words, "--help"], capture_output=True, text=True, env=environment).stdout
        self.pages[words] = page
        inside = re.search(r"^Subcommands:\n((?:  .*\n)+)", page, re.MULTILINE)
        for name in re.findall(r"^  ([a-z]\S*)", inside.group(1), re.MULTILINE) if inside else []:
            self._read(quire, (*words, name))

    def sessions(self):
        for words, page in self.pages.items():
            place = " ".join(["quire", *words, "--help"])
            shown = re.search(r"^(?:Examples?|First steps):\n((?:  .*\n?)+)", page, re.MULTILINE)
            if not shown:
                continue
            # What stands two blanks behind a command says what it does.
            lines = [re.split(r"   +", line.strip())[0] for line in shown.group(1).splitlines()]
            if page.find("First steps:") >= 0 and not words:
                yield Session(place, [Step(line, []) for line in lines])
            else:
                yield from (Session(place, [Step(line, [])]) for line in dict.fromkeys(lines))

    def is_name(self, words):
        """Whether these are the name of a command, and it takes more than that."""
        page = self.pages.get(tuple(words.split()[1:]), "")
        return bool(re.search(r"^Usage: .* SUBCOMMAND$| REQUIRED", page, re.MULTILINE))

    def fault_of_form(self, form):
        """What of a form, like `quire export --agent NAME FILE`, is not in the help."""
        words = re.split(r"[\s|\[\](){}]+", form)
        command = ()
        for word in words[1:]:
            if (*command, word) in self.pages:
                command = (*command, word)
            elif not command and re.fullmatch(r"[a-z]+", word):
                return f"there is no command {word}"
        known = self.pages[command] + self.pages[()]
        for word in words:
            option = word.split("=")[0]
            if option.startswith("-") and option != "--" and not re.search(rf"(^|[ ,]){re.escape(option)}\b", known, re.MULTILINE):
                return f"{option} is not in the help of quire {' '.join(command)}".rstrip()
        return None


def is_form(words):
    without_quoted = re.sub(r"'[^']*'", "", words)
    return bool(re.search(r"\b[A-Z]{2,}\b(?!=)|…|\.\.\.|[|\[]|COMMAND", without_quoted)) or "…" in words


def left_out(command):
    for beginning, reason in LEFT_OUT.items():
        if command.startswith(beginning + " ") or command == beginning:
            return reason
    return None


def masked(text):
    """Text in which what differs from run to run is the same: numbers, times, home folders, blanks."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"\b[0-9a-f]{16,}…?", "0", text)
    text = re.sub(r"/\S*/project\b", "~/project", text)
    return re.sub(r"\s+", "", re.sub(r"\d+(\.\d+)?", "0", text))


class Terminal:
    """A home folder with a project in it, a PATH with the programs, and the shell's variables between commands."""

    def __init__(self, quire, folder):
        self.home = folder / "home"
        self.state = folder / "state"
        self.cwd_file = folder / "cwd"
        self.project = self.home / "project"
        for name, text in FILES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "quire").symlink_to(quire)
        for name, text in {"claude": CLAUDE, "nano": "#!/bin/sh\nexit 0\n"}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.cwd = self.project
        self.environment = {"HOME": str(self.home), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                            "TERM": "dumb", "EDITOR": "nano", "SHELL": "/bin/bash", "USER": "ada", "LOGNAME": "ada",
                            "TMPDIR": str(folder), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "Ada",
                            "GIT_AUTHOR_EMAIL": "ada@localhost", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@localhost"}
        (self.home / "quire").symlink_to(SOURCE)
        subprocess.run("git init -q && git add -A && git commit -qm 'A project'", shell=True, cwd=self.project,
                       env=self.environment, check=True)

    def type(self, command):
        """Runs a command at a pseudo-terminal: (exit status, what it printed)."""
        script = (f"[ ! -f {self.state} ] || source {self.state}\n{command}\nstatus=$?\n"
                  f"export -p >{self.state}; pwd >{self.cwd_file}; exit $status")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.cwd)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # A runner in the background ignores it.
            os.execve("/bin/bash", ["bash", "-c", script], self.environment)
        printed, answered, deadline = "", 0, time.monotonic() + TIME_LIMIT
        # Programs that serve until their input ends or a person stops them.
        serves = bool(re.search(r"\bquire (mcp|engine)\b", command)) and "claude" not in command and "|" not in command
        if serves:
            os.write(terminal, b"\x04")
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break  # Its last writer has ended.
                if not data:
                    break
                printed += data.decode(errors="replace").replace("\r\n", "\n")
                questions = len(re.findall(r"\[y/N\]|\[Y/n\]|\(y/n\)", printed))
                if questions > answered:
                    os.write(terminal, b"y\n")
                    answered = questions
                if re.match(r"quire (serve|watch)\b", command) and "Ctrl-C" in printed and answered == 0:
                    os.write(terminal, b"\x03")
                    answered = 1
        else:
            os.kill(child, signal.SIGKILL)
            printed += f"\n(no end after {TIME_LIMIT} s)"
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        if self.cwd_file.exists():
            self.cwd = Path(self.cwd_file.read_text().strip())
        return os.waitstatus_to_exitcode(status), printed

    def close(self):
        """Ends the kernels of this home folder; nobody else has it."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if len(words) > 1 and words[1] == "kernel" and any(word.startswith(str(self.home)) for word in words):
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass  # It has ended.


def type_session(quire, session, verbose):
    verdict = Verdict()
    with tempfile.TemporaryDirectory(prefix="quire-typed-", ignore_cleanup_errors=True) as folder:
        terminal = Terminal(quire, Path(folder))
        try:
            for step in session.steps:
                type_step(terminal, session.place, step, verdict, verbose)
        finally:
            terminal.close()
    return verdict


def type_step(terminal, place, step, verdict, verbose):
    command = step.command
    reason = left_out(command)
    if reason:
        target = re.match(r"make ([a-z-]+)", command)
        if target and not re.search(rf"^{target.group(1)}:", (SOURCE / "Makefile").read_text(), re.MULTILINE):
            verdict.faults.append(f"{place}: {command}: the Makefile has no such target")
        verdict.left_out.append(f"{place}: {command.splitlines()[0]} ({reason})")
        if command.startswith("git clone"):
            terminal.cwd = terminal.home  # Where the clone would be: this tree is linked there.
        return
    status, printed = terminal.type(command)
    if status == -signal.SIGINT and command.startswith("quire watch"):
        status = 0  # A person ends it so.
    verdict.typed += 1
    if verbose:
        verdict.notes.append(f"--- {place}: {command}  -> {status}\n{printed}")
    first = next((says for pattern, says in FIRST.items() if re.match(pattern, re.sub(r"^([A-Z_]+=\S* )*", "", command))), None)
    if status != 0 and first and re.search(first, printed.replace("\n", " ")):
        verdict.refused.append(f"{place}: {command}")
    elif status != 0:
        verdict.faults.append(f"{place}: {command}\n    ended with {status} and printed\n      " + "\n      ".join(printed.splitlines()[-12:]))
    elif step.shown and not shows(step.shown, printed):
        verdict.faults.append(f"{place}: {command}\n    printed\n      " + "\n      ".join(printed.splitlines()) +
                              "\n    but the document shows\n      " + "\n      ".join(step.shown))


def shows(lines, printed):
    """Whether the output holds the lines that a document shows of it, in their order; "..." stands for any."""
    printed, at = masked(printed), 0
    for line in filter(None, map(masked, lines)):
        if line in ("...", "…"):
            continue
        for part in filter(None, line.split("…")):
            at = printed.find(part, at)
            if at < 0:
                return False
            at += len(part)
    return True


def gather(help_pages):
    """(sessions, forms): all that is to be typed, each inline command once, and what has only to be in the help."""
    sessions, forms, seen = [], [], set()
    for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
        blocks, inline = of_document(path)
        sessions += blocks
        for place, words in inline:
            if words in seen:
                continue
            seen.add(words)
            if words.startswith("quire ") and (is_form(words) or help_pages.is_name(words)):
                forms.append((place, words))
            elif len(words.split()) > 1:
                sessions.append(Session(place, [Step(words, [])]))
    sessions += help_pages.sessions()
    return sessions, forms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("quire")
    parser.add_argument("--list", action="store_true", help="print the commands, and type none")
    parser.add_argument("--only", default="", help="only the sessions whose place or a command this finds")
    parser.add_argument("--verbose", action="store_true", help="print what each command printed")
    arguments = parser.parse_args()
    quire = str(Path(arguments.quire).resolve())

    help_pages = Help(quire)
    sessions, forms = gather(help_pages)
    if arguments.only:
        sessions = [s for s in sessions if re.search(arguments.only, "\n".join([s.place, *(step.command for step in s.steps)]))]
    if arguments.list:
        for session in sessions:
            print(session.place, *(f"\n    {step.command}" for step in session.steps))
        print(*(f"form {place}: {form}" for place, form in forms), sep="\n")
        return 0

    faults = [f"{place}: `{form}`: {fault}" for place, form in forms if (fault := help_pages.fault_of_form(form))]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        verdicts = list(pool.map(lambda session: type_session(quire, session, arguments.verbose), sessions))
    every = Verdict(sum(v.typed for v in verdicts), *([line for v in verdicts for line in getattr(v, name)]
                                                      for name in ("refused", "left_out", "faults", "notes")))
    for title, lines in [("", every.notes), ("FAULT ", faults + every.faults), ("says what has to be there first: ", every.refused),
                         ("not typed: ", every.left_out)]:
        for line in dict.fromkeys(lines):
            print(f"{title}{line}")
    print(f"{every.typed} commands were typed, {len(every.refused)} of them say what has to be there first, "
          f"{len(forms)} forms are in the help, {len(every.left_out)} commands were not typed, {len(faults + every.faults)} faults")
    return 1 if faults or every.faults or not every.typed else 0


if __name__ == "__main__":
    sys.exit(main())
