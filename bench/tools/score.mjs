// Scores the editing tools without a model: tasks.mjs has what agents want of a text, hands.mjs how an agent of each
// profile says it, scoring.mjs the verdicts. Ends with 1 if a result was wrong and no answer said so.
//
//     scripts/node.sh bench/tools/score.mjs [--json] [--task WORDS]
import { hands } from "./hands.mjs";
import { score } from "./scoring.mjs";
import { tasks } from "./tasks.mjs";

const words = process.argv.includes("--task") ? process.argv[process.argv.indexOf("--task") + 1] : "";
const chosen = tasks.filter(({ name }) => name.includes(words));
const table = await score(hands, chosen);

const indented = (text) => text?.slice(0, 200).replaceAll("\n", "\n      ");
const short = (value) => JSON.stringify(value).slice(0, 400);
const format = (cells) => `${cells[0].padEnd(8)}${cells[1].padEnd(17)}${cells.slice(2).map((v) => String(v).padStart(7)).join("")}`;

function print() {
    console.log(`${chosen.length} tasks; right: at the first try; again: after the text was read anew; calls: for each task\n`);
    console.log(format(["profile", "by", "tasks", "right", "again", "never", "wrong", "calls"]));
    for (const { profile, hand, tasks: count, right, again, never, wrong, calls } of table) {
        console.log(format([profile, hand, count, right, again, never, wrong, (calls / Math.max(1, count)).toFixed(1)]));
    }
    for (const { profile, hand, faults } of table) {
        for (const { task, verdict, result, text, log } of faults) {
            console.log(`\n${profile}, ${hand}: ${task}: ${verdict}\n  wanted ${short(result)}\n  has    ${short(text)}`);
            for (const { tool, args, answer } of log) console.log(`  ${tool} ${short(args)}\n      ${indented(answer)}`);
        }
    }
}

if (process.argv.includes("--json")) console.log(JSON.stringify({ tasks: chosen.length, table }));
else print();
process.exitCode = table.some(({ wrong }) => wrong > 0) ? 1 : 0;
