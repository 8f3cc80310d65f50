#!/usr/bin/env bash
# make run: a workspace on a copy of this source tree, its kernel, and what to do next.
set -euo pipefail
cd "$(dirname "$0")/.."

quire=$PWD/build/quire
workspace=$PWD/build/workspace

mkdir -p "$workspace"
if [ ! -e "$workspace/.quire" ]; then
    echo "quire: copying this source tree to build/workspace" >&2
    git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - |
        tar -C "$workspace" -xf -
    "$quire" init --workspace "$workspace" >/dev/null
fi

cat <<TXT

A workspace with a copy of this source tree is in build/workspace.

Give it to an agent: claude, codex, cursor, gemini or vscode. This shows what it would write, and asks:
  (cd build/workspace && $quire init --agent claude)
Any other MCP client takes this command, started in build/workspace:
  $quire mcp

Or look around yourself, in another terminal:
  build/quire demo                                    two agents and an editor on the same files, for a few seconds
  build/quire status --workspace build/workspace      what is open, by whom
  build/quire call file '{"operation":"list"}' --workspace build/workspace
  build/quire --help

The kernel runs until Ctrl-C; agents can also be started without it.
TXT
exec "$quire" serve --workspace "$workspace"
