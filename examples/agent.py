#!/usr/bin/env python3
"""An agent without a model: an MCP client that makes one edit in a file of the workspace it runs in.

usage: agent.py PATH FIND REPLACE      (the actor is $QUIRE_ACTOR, or agent:ada)

It speaks to `quire mcp` as Claude Code, Cursor and others do: JSON-RPC, one message a line, over the server's
standard input and output. A model would choose the calls; here they are chosen beforehand.
"""
import itertools
import json
import os
import subprocess
import sys


class Server:
    """`quire mcp` as a child process; it starts the workspace's kernel or joins the one that runs."""

    def __init__(self, actor):
        self.child = subprocess.Popen(["quire", "mcp", "--actor", actor], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ids = itertools.count(1)
        self.request("initialize", protocolVersion="2025-11-25", capabilities={},
                     clientInfo={"name": "agent.py", "version": "1"})
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.child.stdin.flush()

    def request(self, method, **params):
        number = next(self.ids)
        self.send(id=number, method=method, params=params)
        for line in self.child.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                if "error" in message:
                    sys.exit(f"refused: {message['error']['message']}")
                return message["result"]
        sys.exit("the server has ended")

    def call(self, tool, **arguments):
        """A tool's answer. A refusal is an answer too: its text says what to do instead."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            sys.exit(result["content"][0]["text"])
        return result["structuredContent"]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, find, replace = sys.argv[1:]
    actor = os.environ.get("QUIRE_ACTOR", "agent:ada")
    quire = Server(actor)
    before = quire.call("file", operation="read", path=path)
    print(f"{actor} read {path}, version {before.get('version', 1)}")
    after = quire.call("file", operation="replace", path=path, find=find, replace=replace)
    print(f"{actor} replaced {find!r}; {path} now has version {after['version']}")
    # Where the workspace saves on commit, the edit is on the disk already and this changes nothing.
    quire.call("file", operation="save", path=path)
    print(f"{actor} saved {path}")


main()
