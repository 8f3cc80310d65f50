// quire init: what it writes for a workspace and for an agent's program, and how it is taken back.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { quire, RawClient, refusal, removeWorkspace, skip } from "./support/workspace.mjs";

function bare(t) {
    const folder = mkdtempSync(join(tmpdir(), "quire-init-"));
    t.after(() => removeWorkspace(folder));
    return folder;
}

function init(cwd, ...args) {
    const { QUIRE_WORKSPACE, ...env } = process.env;
    return spawnSync(quire, ["init", ...args], { encoding: "utf8", timeout: 60_000, cwd, env });
}

function atTerminal(cwd, line, input) {
    return spawnSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8", timeout: 60_000, cwd, input });
}

const clients = {
    claude: [".mcp.json", "mcpServers"],
    codex: [".codex/config.toml"],
    cursor: [".cursor/mcp.json", "mcpServers"],
    gemini: [".gemini/settings.json", "mcpServers"],
    vscode: [".vscode/mcp.json", "servers"],
};

test("init says what it wrote and how to go on, and does nothing where all is there", { skip }, (t) => {
    const folder = bare(t);
    const first = init(folder);
    assert.equal(first.status, 0, first.stderr);
    assert.equal(init(folder, "--print").stdout, readFileSync(join(folder, "quire.toml"), "utf8"));
    assert.match(first.stdout, /^Wrote .*quire\.toml\.\n[^]*Next steps:\n[^]*quire init --agent claude/);
    assert.ok(!first.stdout.includes("[[files.rules]]"));

    writeFileSync(join(folder, "quire.toml"), "# mine\n");
    const second = init(folder);
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stdout, /is there and was left as it is/);
    assert.equal(init(folder, "--print").stdout, "# mine\n");
    assert.deepEqual(readdirSync(folder), ["quire.toml"]);
});

test("init goes to the top of the git work tree, or to a workspace above", { skip }, (t) => {
    const folder = bare(t);
    mkdirSync(join(folder, "repo/.git"), { recursive: true });
    mkdirSync(join(folder, "repo/src"));
    assert.equal(init(join(folder, "repo/src")).status, 0);
    assert.ok(existsSync(join(folder, "repo/quire.toml")));
    assert.match(init(join(folder, "repo/src")).stdout, /repo\/quire\.toml is there/);
    assert.equal(init(join(folder, "repo/src"), "--workspace", ".").status, 0);
    assert.ok(existsSync(join(folder, "repo/src/quire.toml")));
});

test("init writes each client's settings and takes exactly that back", { skip }, (t) => {
    for (const [client, [file, container]] of Object.entries(clients)) {
        const folder = bare(t);
        const asked = init(folder, "--agent", client);
        assert.equal(asked.status, 1, client);
        assert.equal(refusal(asked.stderr).reason, "not_confirmed");
        assert.match(asked.stdout, /^--- \/dev\/null\n\+\+\+ /m, "the change is shown");
        assert.deepEqual(readdirSync(folder), ["quire.toml"]);

        const made = init(folder, "--agent", client, "--yes");
        assert.equal(made.status, 0, made.stderr);
        const text = readFileSync(join(folder, file), "utf8");
        if (container) {
            const { command, args } = JSON.parse(text)[container].quire;
            assert.equal(command, quire);
            assert.deepEqual(args, client === "cursor" ? ["mcp", "--workspace", folder] : ["mcp"]);
        } else {
            assert.equal(text, `[mcp_servers.quire]\ncommand = "${quire}"\nargs = ["mcp"]\n`);
        }
        const again = init(folder, "--agent", client, "--yes");
        assert.deepEqual([again.status, readFileSync(join(folder, file), "utf8")], [0, text]);
        assert.match(again.stdout, /nothing was changed/);

        assert.equal(init(folder, "--agent", client, "--remove", "--yes").status, 0);
        assert.deepEqual(readdirSync(folder), ["quire.toml"], client);
        assert.equal(refusal(init(folder, "--agent", client, "--remove", "--yes").stderr).reason, "no_entry");
    }
});

test("the rest of a client's file keeps its bytes, and a broken or changed one is refused", { skip }, (t) => {
    const folder = bare(t);
    const path = join(folder, ".mcp.json");
    const mine = '{\n\t// mine\n\t"mcpServers": {\n\t\t"a": {"command": "x"}, // why\n\t},\n}\n';
    writeFileSync(path, mine);
    chmodSync(path, 0o640);
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    assert.match(readFileSync(path, "utf8"), /"a": \{"command": "x"\}, \/\/ why\n\t\t"quire": \{/);
    assert.equal(init(folder, "--agent", "claude", "--remove", "--yes").status, 0);
    assert.equal(readFileSync(path, "utf8"), mine);
    for (const [text, reason] of [["{", "invalid_json"], ['{"mcpServers":{"quire":{"command":"mine"}}}', "foreign_entry"]]) {
        writeFileSync(path, text);
        assert.equal(refusal(init(folder, "--agent", "claude", "--yes").stderr).reason, reason);
        assert.equal(readFileSync(path, "utf8"), text);
    }
});

const hooks = {
    claude: [".claude/settings.json", "PreToolUse", (entry) => entry.hooks[0].command],
    codex: [".codex/hooks.json", "PreToolUse", (entry) => entry.hooks[0].command],
    cursor: [".cursor/hooks.json", "beforeShellExecution", (entry) => entry.command],
    gemini: [".gemini/settings.json", "BeforeTool", (entry) => entry.hooks[0].command],
};

test("init adds the hooks of each agent, unless told not to, beside those that are there", { skip }, (t) => {
    for (const [client, [file, event, command]] of Object.entries(hooks)) {
        const folder = bare(t);
        assert.equal(init(folder, "--agent", client, "--yes", "--no-hooks").status, 0);
        const path = join(folder, file);
        assert.ok(!existsSync(path) || !("hooks" in JSON.parse(readFileSync(path, "utf8"))), client);
        assert.equal(init(folder, "--agent", client, "--yes").status, 0);
        const made = JSON.parse(readFileSync(path, "utf8"));
        assert.equal(command(made.hooks[event][0]), `${quire} hook --agent ${client}`);
        assert.equal(made.version, client === "cursor" ? 1 : undefined);
        assert.equal(init(folder, "--agent", client, "--remove", "--yes").status, 0);
        assert.deepEqual(readdirSync(folder), ["quire.toml"], client);
    }
    const folder = bare(t);
    const path = join(folder, ".claude/settings.json");
    const mine = '{\n  // mine\n  "hooks": {\n    "PreToolUse": [ // first\n      {"matcher": "Bash", "hooks": [{"type":"command","command":"lint"}]}\n    ]\n  }\n}\n';
    mkdirSync(join(folder, ".claude"));
    writeFileSync(path, mine);
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    const text = readFileSync(path, "utf8");
    assert.match(text, /\/\/ mine/);
    assert.match(text, /"PreToolUse": \[\{.*quire hook --agent claude.*\},  \/\/ first\n +\{"matcher": "Bash"/);
    const again = init(folder, "--agent", "claude", "--yes");
    assert.match(again.stdout, /nothing was changed/);
    // An entry that runs another program of ours is replaced.
    writeFileSync(path, text.replaceAll(quire, "/elsewhere/quire"));
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    assert.equal(readFileSync(path, "utf8"), text);
    assert.equal(init(folder, "--agent", "claude", "--remove", "--yes").status, 0);
    assert.equal(readFileSync(path, "utf8"), mine);
    // The rest is removed even if a person has removed one file by hand.
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    rmSync(join(folder, ".mcp.json"));
    const removed = init(folder, "--agent", "claude", "--remove", "--yes");
    assert.match(removed.stdout, /out of \.claude\/settings\.json\.\n$/);
    assert.equal(readFileSync(path, "utf8"), mine);
    writeFileSync(path, '{"hooks": {"PreToolUse": 7}}');
    assert.equal(refusal(init(folder, "--agent", "claude", "--yes").stderr).reason, "not_a_list");
    assert.ok(!existsSync(join(folder, ".mcp.json")), "all or nothing");
    rmSync(join(folder, ".claude"), { recursive: true });
    writeFileSync(join(folder, ".claude"), "a file");
    assert.equal(refusal(init(folder, "--agent", "claude", "--yes").stderr).reason, "workspace_not_writable");
    assert.ok(!existsSync(join(folder, ".mcp.json")), "all or nothing");
});

test("what init wrote as a hook is a command that answers", { skip }, (t) => {
    const folder = bare(t);
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    const [entry] = JSON.parse(readFileSync(join(folder, ".claude/settings.json"), "utf8")).hooks.PreToolUse;
    const event = { hook_event_name: "PreToolUse", session_id: "1", cwd: folder, tool_name: "Write", tool_input: { file_path: join(folder, "quire.toml") } };
    const done = spawnSync("sh", ["-c", entry.hooks[0].command], { encoding: "utf8", cwd: folder, input: JSON.stringify(event) });
    assert.equal(JSON.parse(done.stdout).hookSpecificOutput.permissionDecision, "deny");
    assert.ok("Write".match(`^(${entry.matcher})$`));
});

test("at a terminal init asks before it writes", { skip }, (t) => {
    const folder = bare(t);
    const no = atTerminal(folder, `'${quire}' init --agent claude`, "n\n");
    assert.equal(no.status, 1, no.stdout);
    assert.match(no.stdout, /\[y\/N\]/);
    assert.ok(!existsSync(join(folder, ".mcp.json")));
    const yes = atTerminal(folder, `'${quire}' init --agent claude`, "y\n");
    assert.equal(yes.status, 0, yes.stdout);
    assert.ok(existsSync(join(folder, ".mcp.json")));
});

test("what init wrote starts a server on this workspace, from any directory in it", { skip }, async (t) => {
    const folder = bare(t);
    mkdirSync(join(folder, "src"));
    assert.equal(init(folder, "--agent", "claude", "--yes").status, 0);
    const { command, args } = JSON.parse(readFileSync(join(folder, ".mcp.json"), "utf8")).mcpServers.quire;
    const client = new RawClient(command, args, { cwd: join(folder, "src") });
    assert.ok((await client.initialize()).result);
    await client.end();
    assert.ok(existsSync(join(folder, ".quire")) && !existsSync(join(folder, "src/.quire")));
});

test("a workspace that cannot be found from below is named by its path", { skip }, (t) => {
    const folder = bare(t);
    chmodSync(folder, 0o777);
    assert.equal(init(folder, "--agent", "claude", "--yes", "--workspace", folder).status, 0);
    const { args } = JSON.parse(readFileSync(join(folder, ".mcp.json"), "utf8")).mcpServers.quire;
    assert.deepEqual(args, ["mcp", "--workspace", folder]);
});
