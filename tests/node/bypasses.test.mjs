// Ways around gates that read commands, as they were published of other tools, and the usual escapes: in
// a stage none changes what the rules forbid, or anything outside the workspace, and none is called
// allowed before it runs. Run as this user, and as one without privileges where this one is root.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { share } from "./support/share.mjs";
import { quire, refusal, removeWorkspace, skip } from "./support/workspace.mjs";

const NOBODY = 65534;
const SECRET = "hidden-from-every-agent";

const settings = `[files]
save = "on_commit"
rules = [
  { pattern = "src/**", permission = "ReadWrite" },
  { pattern = "log/**", permission = "Append" },
  { pattern = "secret/**", permission = "ReadWrite", operations_requiring_escalation = ["read"] },
]
`;

const files = {
    "ws/quire.toml": settings,
    "ws/src/a.txt": "one\n",
    "ws/src/run.sh": "echo hello\n",
    "ws/log/day.md": "begun\n",
    "ws/secret/key": `${SECRET}\n`,
    "ws/README.md": "read me\n",
    "ws/deep/down/file": "deep\n",
    "ws/.git/HEAD": "ref: refs/heads/main\n",
    "ws/.git/config": "[core]\n\tbare = false\n",
    "ws/.git/hooks/pre-commit.sample": "#!/bin/sh\n",
    "ws/.claude/settings.json": "{}\n",
    "outside/file": "outside\n",
    "outside/.bashrc": "# nothing\n",
    "outside/.ssh/config": "Host none\n",
};

// What each script tries is in its name. `OUT` is a directory beside the workspace that anybody may write to.
const scripts = {
    // --- what the text of a command hides ---
    "a word in quotes": `'r''m' README.md`,
    "a word with a backslash": String.raw`r\m READ\ME.md`,
    "a backslash before the end of a line": "r\\\nm README.md",
    "a variable as the command": "c=rm; $c README.md",
    "letters from a variable": "a=r; b=m; $a$b README.md",
    "a field separator for a space": "rm${IFS}README.md",
    "a field separator of one's own": `IFS=x; c=rmxREADME.md; $c`,
    "escaped letters": String.raw`$'\x72\x6d' $'README\x2emd'`,
    "octal letters": String.raw`$'\162\155' README.md`,
    "a name put together by printf": String.raw`$(printf '\162\155') README.md`,
    "a command in base64": `$(echo cm0gUkVBRE1FLm1k | base64 -d)`,
    "a script in base64": `echo cm0gUkVBRE1FLm1k | base64 -d | bash`,
    "backquotes": "echo `rm README.md`",
    "a command within double quotes": `echo "$(rm README.md)"`,
    "a command in a default value": "echo ${none:-$(rm README.md)}",
    "a prompt that runs": `x='$(rm README.md)'; echo "\${x@P}"`,
    "a variable by another's name": `c='rm README.md'; n=c; eval "\${!n}"`,
    "a subscript that runs": "declare -i n; n='a[$(rm README.md)0]'",
    "arithmetic that runs": "x='a[$(rm README.md)0]'; echo $((x))",
    "a test that runs": "[[ 'a[$(rm README.md)0]' -eq 0 ]]",
    "printf into a subscript": "printf -v 'a[$(rm README.md)0]' x",
    "a here-document": "bash <<EOF\nrm README.md\nEOF",
    "a here-string": "bash <<< 'rm README.md'",
    "braces for spaces": "{rm,README.md}",
    "a glob as the command": "/bi?/[r]m README.md",
    "a glob for the name": "rm READ*",
    "another case of the name": "rm readme.md README.MD 2>/dev/null; rm [Rr]eadme.md README.md",
    "a carriage return in the line": "echo x\rrm README.md\nrm README.md",
    "a blank that is none": "echo\u00a0x; rm README.md",
    "two hundred commands before it": `${"true; ".repeat(200)}rm README.md`,
    "a comment that ends": "echo '# no'#; rm README.md",
    "a process substitution": "cat <(rm README.md)",
    "an output process": "echo x > >(cat > README.md; sleep 0.1); sleep 0.3",
    // --- names for other commands ---
    "an alias": "shopt -s expand_aliases\nalias ll='rm README.md'\nll",
    "a function by a harmless name": "ls() { rm README.md; }; ls",
    "cd made anew": "cd() { rm README.md; }; cd src",
    "a trap at the end": "trap 'rm README.md' EXIT",
    "a trap before each command": "trap 'rm -f README.md' DEBUG; true",
    "a coprocess": "coproc rm README.md; wait",
    "the command that time runs": "time rm README.md",
    "a variable for the path of programs": `mkdir -p src/bin; printf '#!/bin/sh\\nrm README.md' > src/bin/ls; chmod +x src/bin/ls; PATH=$PWD/src/bin:$PATH; export PATH; ls`,
    "a start file of the shell": "echo 'rm README.md' > src/env; BASH_ENV=src/env bash -c true",
    "a variable exported for a child": "echo 'rm README.md' > src/env; export BASH_ENV=$PWD/src/env; declare -x A=1; bash -c true",
    "a function exported for a child": "ls() { rm README.md; }; export -f ls; bash -c ls",
    "a library loaded first": "LD_PRELOAD=/nonexistent ls; rm README.md",
    "a pager that runs": "GIT_PAGER='rm README.md; cat' git --paginate help -a; PAGER='rm README.md' git -p log",
    "an editor that runs": "GIT_EDITOR='rm README.md' git commit --allow-empty; VISUAL='rm README.md' EDITOR='rm README.md' git commit",
    // --- commands that write or run by an option ---
    "sed in place, bundled options": "sed -ni p README.md; sed -n -i.bak p README.md",
    "sed that writes a file": "sed -n 'w README.md' src/a.txt",
    "sed behind a pipe that writes a file": "echo x | sed 'w README.md'",
    "a substitution of sed that writes": "sed 's/one/two/w README.md' src/a.txt",
    "sed that runs a command": "sed '1e rm README.md' src/a.txt; echo 'rm README.md' | sed 's/.*/&/e'",
    "find that deletes": "find . -name README.md -delete",
    "find that runs a command": "find . -name README.md -exec rm {} +",
    "find that prints into a file": "find src -fprint README.md; find src -fls log/day.md",
    "awk that writes": `awk '{print > "README.md"}' src/a.txt`,
    "awk that runs a command": `awk 'BEGIN{system("rm README.md")}'`,
    "awk that pipes": `awk 'BEGIN{print "rm README.md" | "sh"}'`,
    "sort into a file": "sort -oREADME.md src/a.txt; sort --output=README.md src/a.txt",
    "uniq into a file": "uniq src/a.txt README.md",
    "tee behind a pipe": "echo x | tee README.md; echo x | tee -a README.md",
    "dd": "dd if=src/a.txt of=README.md status=none",
    "cp with its own option for the target": "cp -t . src/run.sh; cp --target-directory=. src/run.sh; cp src/a.txt README.md",
    "install": "install src/a.txt README.md; install -D src/a.txt deep/new/file",
    "ln over a name": "ln -sf src/a.txt README.md; ln -f src/a.txt README.md",
    "truncate and touch": "truncate -s 0 README.md; touch -d yesterday README.md",
    "modes and owners": "chmod 777 README.md; chmod -R a+w deep; setfattr -n user.x -v y README.md",
    "tar that runs a command": "tar cf src/x.tar src/a.txt; tar xf src/x.tar --to-command='rm README.md'; tar cf /dev/null src/a.txt --checkpoint=1 --checkpoint-action=exec='rm README.md'",
    "tar that unpacks above": "tar cPf src/x.tar ../ws/README.md; echo x > src/README.md; tar cf src/y.tar -C src README.md; tar xf src/y.tar",
    "xargs": "echo README.md | xargs rm; echo README.md | xargs -I{} sh -c 'rm {}'",
    "env that splits": "env -S 'rm README.md'; env rm README.md",
    "programs that run programs": "nice rm README.md; nohup rm README.md; timeout 5 rm README.md; setsid -w rm README.md; stdbuf -o0 rm README.md; command rm README.md; exec rm README.md",
    "git by an option": "git -c core.fsmonitor='rm README.md' status; git -c alias.x='!rm README.md' x; git diff --output=README.md --no-index src/a.txt src/run.sh; git --git-dir=.git config core.hooksPath src",
    "git's settings and hooks": "git config core.pager 'rm README.md'; echo 'rm README.md' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo '[core]' >> .git/config",
    "git in the directory above": "git -C .. init; git init ../outside; git -C OUT init",
    "patch and its names": "printf -- '--- a/README.md\\n+++ b/README.md\\n@@ -1 +1 @@\\n-read me\\n+mine\\n' | patch -p1; printf -- '--- a/src/../README.md\\n+++ b/src/../README.md\\n@@ -1 +1 @@\\n-read me\\n+mine\\n' | git apply --unsafe-paths",
    "make": "printf 'all:\\n\\trm README.md\\n' > src/Makefile; make -C src; make -f src/Makefile; make -s --eval='x:;rm README.md' x",
    "perl": "perl -e 'unlink q(README.md)'; perl -pi -e 's/read/mine/' README.md",
    "python": `python3 -c 'import os; os.remove("README.md")'; python3 -c 'open("README.md","w").write("mine")'`,
    "a script that it wrote": "echo 'rm README.md' > src/run.sh; sh src/run.sh; . src/run.sh; source src/run.sh",
    "ed and ex": "printf 'g/./d\\nw\\nq\\n' | ed -s README.md; printf 'e README.md\\n%%d\\nw\\nq\\n' | ed -s; ex -sc '%d|x' README.md",
    "rsync": "rsync src/a.txt README.md; rsync -a --delete src/ deep/",
    // --- where a name leads ---
    "a protected directory by cd": "cd deep && rm -r down; cd ../.claude && echo '{\"x\":1}' > settings.json",
    "a directory that may fail": "cd nowhere; cd deep; rm -rf down",
    "pushd and CDPATH": "CDPATH=deep; cd down; rm file; cd -; pushd deep; rm -r down",
    "a link to a file": "ln -s ../README.md src/l; echo mine > src/l",
    "a link to a directory": "ln -s ../deep src/l; echo mine > src/l/down/file; rm -r src/l/",
    "a link that another process changes": "for i in 1 2 3 4 5 6 7 8 9; do ln -sfn ../README.md src/l; ln -sfn a.txt src/l; done & for i in 1 2 3 4 5 6 7 8 9; do echo mine > src/l; done; wait",
    "a hard link": "ln README.md src/h; echo mine > src/h",
    "a directory moved away and back": "mv deep src/deep; echo mine > src/deep/down/file; mv src/deep deep",
    "a name through the parent": "echo mine > src/../README.md; echo mine > src/./.././README.md",
    "a name through the root": "echo mine > /proc/self/root$PWD/README.md; echo mine > /proc/self/cwd/README.md",
    "a descriptor's name": "exec 3<>README.md; echo mine > /proc/self/fd/3; echo mine > /dev/fd/3",
    "an append that is none": "echo mine > log/day.md; sed -i 1d log/day.md; python3 -c 'f=open(\"log/day.md\",\"r+\"); f.write(\"mine!\")'",
    "a file replaced by a directory": "rm README.md && mkdir README.md; rm -r deep && echo x > deep",
    "its own settings": "echo '' > quire.toml; rm -rf .quire; mkdir -p .quire; echo x > .quire/quire.db",
    "what may not be read": "cat secret/key; cat secret/*; grep -r hidden .; cp -r secret src/s; find / -name key -path '*secret*' -exec cat {} + 2>/dev/null; cat src/s/key",
    // --- out of the workspace ---
    "a file outside": "echo mine > OUT/file; rm OUT/file; echo mine >> ~/.bashrc; echo mine > ../outside/file",
    "a file outside through links": "ln -s OUT src/o; echo mine > src/o/file; ln -s / src/r; echo mine > src/rOUT/file",
    "a new file outside": "touch OUT/new; mkdir OUT/dir; ln -s x OUT/link; mkfifo OUT/pipe; cp -r src OUT/",
    "the directory above renamed": "mv ../outside ../gone; mv ../ws ../other; rmdir ..",
    "keys for another machine": "mkdir -p ~/.ssh OUT/.ssh; echo key >> OUT/.ssh/authorized_keys; echo mine > OUT/.ssh/config",
    "mounts": "mount -t tmpfs none deep; mount --bind src deep; umount -l .; unshare -rm sh -c 'umount -l .; rm README.md'; nsenter -t 1 -m rm README.md",
    "another root": "chroot / rm $PWD/README.md; unshare -r chroot / rm OUT/file; pivot_root . src",
    "other rights": "sudo -n rm README.md; su -c 'rm README.md' nobody; setpriv --reuid 0 rm OUT/file; pkexec rm OUT/file",
    "processes outside": "kill -9 $PPID; kill -9 1; kill -9 -1; for p in /proc/[0-9]*; do echo x > $p/cwd/README.md; echo x > $p/rootOUT/file; done",
    "an orphan that waits": "(sleep 0.4; echo mine > README.md; echo mine > OUT/file) & disown; setsid sh -c 'sleep 0.4; rm README.md' &",
    "timers of the system": "echo 'rm README.md' | at now; echo '* * * * * rm README.md' | crontab -; systemd-run rm OUT/file",
    "sockets of other programs": "for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket; do curl -s --unix-socket $s http://x/; done; python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\".quire/kernel.sock\")'",
    "the workspace's own kernel": "QUIRE call file '{\"operation\":\"create\",\"path\":\"mine\",\"content\":\"x\"}' --actor human:root; QUIRE stop",
    "a library for others": "cp src/a.txt /usr/lib/mine.so; echo mine > /etc/ld.so.preload; echo mine > /etc/profile.d/mine.sh",
};

// Everything below a directory: what each name is and holds.
function held(directory, omitted, path = "", into = {}) {
    for (const name of readdirSync(join(directory, path)).sort()) {
        const at = join(path, name);
        if (omitted.includes(at)) continue;
        const stat = lstatSync(join(directory, at));
        into[at] = `${(stat.mode & 0o177777).toString(8)} ${stat.uid} `;
        if (stat.isSymbolicLink()) into[at] += readlinkSync(join(directory, at));
        else if (stat.isFile()) into[at] += readFileSync(join(directory, at), "utf8");
        else if (stat.isDirectory()) held(directory, omitted, at, into);
    }
    return into;
}

// A workspace and a directory beside it, both of the user, who runs commands there.
function desk(t, user) {
    // Not below /tmp: a command has one of its own.
    const folder = mkdtempSync(join(dirname(quire), "bypass-"));
    const workspace = join(folder, "ws");
    t.after(() => {
        removeWorkspace(workspace);
        removeWorkspace(folder);
    });
    const made = new Set([folder]);
    for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
        for (let at = join(folder, path); at !== folder; at = dirname(at)) made.add(at);
    }
    if (user !== undefined) for (const path of made) chownSync(path, user, user);
    chmodSync(join(folder, "outside"), 0o777);
    const identity = user === undefined ? {} : { uid: user, gid: user };
    const run = (args, input) =>
        spawnSync(quire, args, { ...identity, encoding: "utf8", timeout: 120_000, cwd: workspace, input, env: { ...process.env, HOME: join(folder, "outside") } });
    const shell = (operation, command) => {
        const call = run(["call", "shell", "-", "--actor", "agent:ada"], JSON.stringify({ operation, command }));
        return { ...call, answer: call.status === 0 ? JSON.parse(call.stdout) : refusal(call.stderr) };
    };
    return { folder, run, shell };
}

async function hold(t, user, part) {
    const { folder, run, shell } = desk(t, user);
    if (user !== undefined && run(["--version"]).status !== 0) return t.skip("that user cannot reach the program");
    const first = shell("execute", "true");
    if (first.answer.reason === "no_stage") return t.skip(`this machine has no stage: ${first.answer.message}`);
    const omitted = ["ws/src", "ws/.quire"];
    const before = held(folder, omitted);
    const allowed = [];
    for (const [name, script] of Object.entries(scripts).filter((_, index) => index % part === 0)) {
        const command = script.replaceAll("OUT", join(folder, "outside")).replaceAll("QUIRE", quire);
        const checked = shell("check", command);
        if (checked.answer.decision === "allow") allowed.push(name);
        const done = shell("execute", command);
        assert.deepEqual(held(folder, omitted), before, name);
        assert.ok(!`${done.stdout}${done.stderr}`.includes(SECRET), `${name}: shows what is hidden`);
        assert.ok(!existsSync(join(folder, "ws/src/s/key")), `${name}: keeps a copy of what is hidden`);
    }
    assert.deepEqual(allowed, [], "called allowed before they ran");
    assert.equal(shell("execute", "echo two >> src/a.txt").status, 0, "the kernel goes on");
}

test("no way around the rules is known to work", { skip }, (t) => hold(t, undefined, 1));

const isRoot = process.getuid() === 0;
test("nor as a user without privileges", { skip: skip || (isRoot ? false : "this user has none") }, (t) => hold(t, NOBODY, share(4) === 4 ? 1 : 4));
