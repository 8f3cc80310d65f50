// How an agent of each profile says an edit: the calls that turn the text it saw into the one that
// it wants. A hand is given the block, and the change as hunks of lines; it does what a careful model
// does, and knows nothing of the text but what was seen.

export const splitLines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

// The change from one text to another: [{line, removed: [line], added: [line]}], lines with their ends, by the
// longest common subsequence.
export function hunksOf(before, after) {
    const a = splitLines(before), b = splitLines(after);
    const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) {
            length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
        }
    }
    const hunks = [];
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
        if (i < a.length && j < b.length && a[i] === b[j]) {
            i++;
            j++;
            continue;
        }
        const hunk = { line: i, removed: [], added: [] };
        while (i < a.length || j < b.length) {
            if (i < a.length && j < b.length && a[i] === b[j]) break;
            if (j === b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) hunk.removed.push(a[i++]);
            else hunk.added.push(b[j++]);
        }
        hunks.push(hunk);
    }
    return hunks;
}

const upwards = (hunks) => [...hunks].reverse();  // So that no edit moves the lines of the next.

// The hunk as a text that occurs once, and the text to put in its place: as many lines around it as that takes.
function unique(seen, { line, removed, added }) {
    const all = splitLines(seen);
    for (let around = removed.length > 0 ? 0 : 1; ; around++) {
        const above = all.slice(Math.max(0, line - around), line);
        const below = all.slice(line + removed.length, line + removed.length + around);
        const old = [...above, ...removed, ...below].join("");
        const whole = above.length + removed.length + below.length === all.length;
        const first = seen.indexOf(old);
        const once = old !== "" && first >= 0 && seen.indexOf(old, first + 1) < 0;
        if (once || whole) return { old, now: [...above, ...added, ...below].join("") };
    }
}

function unified(seen, hunks, name) {
    const all = splitLines(seen);
    const mark = (sign, line) => `${sign}${line}${line.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`;
    let out = `--- a/${name}\n+++ b/${name}\n`;
    let shift = 0;
    for (const { line, removed, added } of hunks) {
        const from = Math.max(0, line - 3);
        const above = all.slice(from, line), below = all.slice(line + removed.length, line + removed.length + 3);
        const was = above.length + removed.length + below.length, is = above.length + added.length + below.length;
        out += `@@ -${was ? from + 1 : 0},${was} +${is ? from + 1 + shift : 0},${is} @@\n`;
        out += [...above.map((l) => mark(" ", l)), ...removed.map((l) => mark("-", l)), ...added.map((l) => mark("+", l)),
            ...below.map((l) => mark(" ", l))].join("");
        shift += added.length - removed.length;
    }
    return out;
}

// Hunks that are nearer than six lines, as one: their context would overlap.
function joined(seen, hunks) {
    const all = splitLines(seen);
    const out = [];
    for (const hunk of hunks) {
        const last = out.at(-1);
        const end = last && last.line + last.removed.length;
        if (last && hunk.line - end < 6) {
            const between = all.slice(end, hunk.line);
            last.removed = [...last.removed, ...between, ...hunk.removed];
            last.added = [...last.added, ...between, ...hunk.added];
        } else {
            out.push({ ...hunk });
        }
    }
    return out;
}

// A hand that has one text to swap after the other: each swap sees the text that the one before left.
function* swaps(seen, hunks) {
    let text = seen;
    for (const hunk of upwards(hunks)) {
        const { old, now } = unique(text, hunk);
        yield { old, now };
        text = text.replace(old, () => now);
    }
}

const blockOf = (path) => `file:${path}`;

// Profile and kind of each hand, and its calls: [[tool, arguments]].
export const hands = [
    {
        profile: "full", by: "lines",
        calls: (path, seen, hunks, version) => [["block_edit", {
            block_id: blockOf(path), coords: "original", base_version: version,
            operations: hunks.map(({ line, removed, added }) => removed.length === 0
                ? { op: "insert", line, content: added.join("") }
                : { op: "replace", start_line: line, end_line: line + removed.length, content: added.join(""), expected_text: removed.join("") }),
        }]],
    },
    {
        profile: "full", by: "text",
        calls: (path, seen, hunks) => [...swaps(seen, hunks)].map(({ old, now }, i, all) => {
            const at = i === 0 ? seen : all.slice(0, i).reduce((text, s) => text.replace(s.old, () => s.now), seen);
            return ["block_splice", { block_id: blockOf(path), unit: "codepoint", offset: [...at.slice(0, at.indexOf(old))].length,
                delete_count: [...old].length, insert: now, expected: old }];
        }),
    },
    {
        profile: "full", by: "patch",
        calls: (path, seen, hunks) => [["block_apply_patch", { patch: unified(seen, joined(seen, hunks), path) }]],
    },
    {
        profile: "model", by: "text",
        calls: (path, seen, hunks) => [...swaps(seen, hunks)].map(({ old, now }) => old === ""
            ? ["block_append", { block_id: blockOf(path), text: now }]
            : ["block_str_replace", { block_id: blockOf(path), old_str: old, new_str: now }]),
    },
    {
        profile: "model", by: "lines",
        calls: (path, seen, hunks) => upwards(hunks).map(({ line, removed, added }) => removed.length === 0
            ? ["block_insert", { block_id: blockOf(path), insert_line: line, insert_text: added.join("") }]
            : ["block_replace_lines", { block_id: blockOf(path), start_line: line + 1, end_line: line + removed.length,
                new_text: added.join(""), expected_text: removed.join("") }]),
    },
    {
        profile: "model", by: "patch",
        calls: (path, seen, hunks) => [["block_apply_patch", { patch: unified(seen, joined(seen, hunks), path) }]],
    },
    {
        profile: "compat", by: "text",
        calls: (path, seen, hunks) => [...swaps(seen, hunks)].map(({ old, now }) => old === ""
            ? ["str_replace_based_edit_tool", { command: "insert", path, insert_line: 0, insert_text: now }]
            : ["str_replace_based_edit_tool", { command: "str_replace", path, old_str: old, new_str: now }]),
    },
    {
        profile: "compat", by: "insert",
        calls: (path, seen, hunks) => {
            const out = [];
            let text = seen;
            for (const hunk of upwards(hunks)) {
                if (hunk.removed.length === 0) {
                    out.push(["str_replace_based_edit_tool", { command: "insert", path, insert_line: hunk.line, insert_text: hunk.added.join("") }]);
                    text = splitLines(text).toSpliced(hunk.line, 0, ...hunk.added).join("");
                } else {
                    const { old, now } = unique(text, hunk);
                    out.push(["str_replace_based_edit_tool", { command: "str_replace", path, old_str: old, new_str: now }]);
                    text = text.replace(old, () => now);
                }
            }
            return out;
        },
    },
];

// How the hand looks at the text, and how it takes its last change back.
export const look = {
    full: (path) => ["block_read", { block_id: blockOf(path) }],
    model: (path) => ["block_view", { block_id: blockOf(path) }],
    compat: (path) => ["str_replace_based_edit_tool", { command: "view", path }],
};
export const takeBack = {
    full: (path) => ["block_undo", { block_id: blockOf(path) }],
    model: (path) => ["block_undo", { block_id: blockOf(path) }],
    compat: (path) => ["str_replace_based_edit_tool", { command: "undo_edit", path }],
};
