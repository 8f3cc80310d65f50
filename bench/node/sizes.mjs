// What stays quick when things are large: a line edit in a block of 100 MB, a page of a conversation of 10,000
// blocks, and an open of that workspace. Through `quire mcp`, as an agent would.
import { answered, connected, fdatasyncs, fill, megabytes, ms, now, onDisk, p50, p99, Report, resident } from "./measure.mjs";

const report = new Report("Large blocks and long conversations");
const settings = "[limits]\nblock_bytes = 209715200\n";

// A repeatable sequence of numbers below `bound` (Lehmer's generator).
function random(seed) {
    let state = seed;
    return (bound) => (state = (state * 48271) % 2147483647) % bound;
}

await onDisk(async (folder) => {
    fill(folder, { "quire.toml": settings });
    const client = await connected(folder);
    const line = `${"0123456789".repeat(6)}abc\n`;
    const piece = line.repeat(12_500);  // 800 KB: below the bound of one operation.
    const { block_id } = await answered(client, "block_create", { role: "user", kind: "text" });
    let began = now();
    for (let i = 0; i < 125; i++) await answered(client, "block_append", { block_id, text: piece });
    report.row("a block of 100 MB, appended in 125 calls", `${((now() - began) / 1000).toFixed(1)} s`);

    const lines = 125 * 12_500;
    const pick = random(20261121);
    const took = [];
    const sync = fdatasyncs(folder, 50);
    for (let i = 0; i < 200; i++) {
        const at = pick(lines);
        began = now();
        await answered(client, "block_edit", { block_id, operations: [{ op: "replace", start_line: at, end_line: at + 1, content: `${i} `.padEnd(63, "x") + "\n" }] });
        took.push(now() - began);
    }
    sync.push(...fdatasyncs(folder, 50));
    report.row("an edit at a random line of it, durable, over stdio: p50", ms(p50(took)), `${ms(p50(sync))} for one fdatasync of the same disk`, "", "under 5 ms", p50(took) < 5);
    report.row("the same, p99", ms(p99(took)), `${ms(p99(sync))} for one fdatasync`);
    for (const process of resident(folder).filter((p) => p.bytes > 100 * 1048576)) {
        report.row("resident memory of the kernel that holds it and its history", megabytes(process.bytes));
    }
    await client.end();
});

await onDisk(async (folder) => {
    fill(folder, { "quire.toml": "" });
    const client = await connected(folder);
    const count = 10_000;
    let began = now();
    for (let i = 0; i < count; i += 500) {
        await Promise.all(Array.from({ length: 500 }, (_, k) =>
            answered(client, "block_create", { role: k % 2 ? "user" : "model", kind: "text", content: `Message ${i + k}: some words of a conversation.\n` })));
    }
    report.row("10,000 blocks of one conversation, created in batches of 500", `${((now() - began) / 1000).toFixed(1)} s`);

    const took = [];
    let cursor;
    let seen = 0;
    do {
        began = now();
        const page = await answered(client, "block_list", { limit: 100, ...(cursor ? { cursor } : {}) });
        took.push(now() - began);
        seen += page.blocks.length;
        cursor = page.next_cursor;
    } while (cursor && took.length < 1000);
    if (seen !== count) throw new Error(`${seen} blocks were listed of ${count}`);
    report.row("a page of 100 of them, p50 over all pages", ms(p50(took)), "", "", "under 5 ms", p50(took) < 5);
    report.row("the same, the slowest page", ms(Math.max(...took)));
    await client.end();

    // The kernel ends some seconds after its last client; what a new one takes shows how lazily it loads.
    const until = now() + 30_000;
    while (resident(folder).length > 0 && now() < until) await new Promise((again) => setTimeout(again, 200));
    began = now();
    const later = await connected(folder);
    await answered(later, "block_list", { limit: 100 });
    report.row("a new kernel on that workspace: start to the first page", ms(now() - began));
    await later.end();
});

report.finish();
