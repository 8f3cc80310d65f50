// Editing tasks as agents meet them. Each has a text and what an agent wants to make of it:
//
//     name, before, goal          the text, and the text that is wanted, byte for byte
//     seen                        what the agent takes the text for, where that is not what it is
//     meanwhile                   what another agent makes of the text after this one has looked
//     result                      what is right in the end, where that is not `goal`
//     by                          the hands that can say it (hands.mjs), where not all can
//
// `goal` is always meant from what the agent saw. Where a text changed meanwhile, both changes are
// in the result.

const lines = (...all) => all.map((line) => `${line}\n`).join("");
const numbered = (count, word = "line") => Array.from({ length: count }, (_, i) => `${word} ${i + 1}\n`).join("");
const swap = (text, ...pairs) => {
    for (let i = 0; i < pairs.length; i += 2) {
        if (!text.includes(pairs[i])) throw new Error(`${JSON.stringify(pairs[i])} is not in the text`);
        text = text.replace(pairs[i], () => pairs[i + 1]);
    }
    return text;
};
const plain = (name, before, ...pairs) => ({ name, before, goal: swap(before, ...pairs) });

const program = lines(
    "#include <string>", "", "int parse(const std::string& text) {", "    int value = 0;", "    for (char c : text) {",
    "        value = value * 10 + (c - '0');", "    }", "    log(value);", "    return value;", "}", "",
    "int twice(const std::string& text) {", "    int value = parse(text);", "    log(value);", "    return 2 * value;", "}");
const python = lines(
    "import os", "import sys", "", "", "class Shop:", "    def open(self):", "        self.lights = True", "        return self", "",
    "    def close(self):", "        self.lights = False", "        return self", "", "", "def main():", "    shop = Shop()",
    "    shop.open()", "    shop.close()", "", "", "main()");
const make = "all: one two\n\none:\n\tcc -c one.c\n\tstrip one.o\n\ntwo:\n\tcc -c two.c\n";
const json = '{\n  "path": "C:\\\\work\\\\new",\n  "tab": "a\\tb",\n  "quote": "say \\"hi\\"",\n  "last": null\n}\n';
const crlf = "[one]\r\nname = a\r\nport = 1\r\n\r\n[two]\r\nname = b\r\nport = 2\r\n";
const prose = lines("# Trip", "", "We left at dawn.  ", "The road was long.", "", "We came home at night.");
const todo = lines("- [ ] buy milk", "- [ ] call ada", "- [ ] water plants", "- [ ] buy milk");

export const tasks = [
    // Statements and lines.
    plain("delete a statement", program, "    for (char c : text) {\n        value = value * 10 + (c - '0');\n    }\n", ""),
    plain("delete the first of two equal statements", program, "    log(value);\n", ""),
    { name: "delete the second of two equal statements", before: program,
        goal: swap(program, "    log(value);\n    return 2", "    return 2") },
    plain("change a word in a line", program, "int value = 0;", "long value = 0;"),
    plain("change a line that occurs twice, the second", program, "    log(value);\n    return 2", "    debug(value);\n    return 2"),
    plain("add an include", program, "#include <string>\n", "#include <map>\n#include <string>\n"),
    plain("add a line at the end", program, "return 2 * value;\n}\n", "return 2 * value;\n}\n// The end.\n"),
    plain("add a line at the top", python, "import os\n", "# A shop.\nimport os\n"),
    plain("add a function between two", python, "\n    def close(self)", "\n    def wait(self):\n        return self\n\n    def close(self)"),
    plain("wrap lines in a condition", python, "    shop.open()\n    shop.close()\n", "    if sys.argv:\n        shop.open()\n        shop.close()\n"),
    plain("move a function above another", python,
        "    def open(self):\n        self.lights = True\n        return self\n\n    def close(self):\n        self.lights = False\n        return self\n",
        "    def close(self):\n        self.lights = False\n        return self\n\n    def open(self):\n        self.lights = True\n        return self\n"),
    { name: "rename across a text", before: program, goal: program.replaceAll("value", "number") },
    { name: "rename a word that others contain", before: lines("cat", "concat", "cat(cat)", "category"),
        goal: lines("dog", "concat", "dog(dog)", "category") },
    plain("change two places far apart", numbered(300), "line 7\n", "line seven\n", "line 280\n", "line two hundred and eighty\n"),
    plain("change every tenth line", numbered(60, "row"), ...[10, 20, 30, 40, 50, 60].flatMap((n) => [`row ${n}\n`, `ROW ${n}\n`])),
    plain("empty a function", program, "    int value = parse(text);\n    log(value);\n    return 2 * value;\n", ""),
    plain("replace most of a text", lines("a", "b", "c", "d", "e"), "a\nb\nc\nd\n", "1\n2\n3\n4\n5\n6\n"),
    { name: "write a text into an empty file", before: "", goal: lines("hello", "world") },
    { name: "delete everything", before: lines("one", "two"), goal: "" },
    // Lines that are alike.
    { name: "insert between identical lines", before: "x\nx\nx\nx\n", goal: "x\nx\ny\nx\nx\n" },
    { name: "delete one of identical lines", before: "a\nx\nx\nx\nb\n", goal: "a\nx\nx\nb\n" },
    { name: "change the second of three equal items", before: lines("- [ ] milk", "- [ ] milk", "- [ ] milk"),
        goal: lines("- [ ] milk", "- [x] milk", "- [ ] milk") },
    { name: "tick the last of two equal items", before: todo, goal: `${todo.slice(0, -"- [ ] buy milk\n".length)}- [x] buy milk\n` },
    plain("insert between two blank lines", python, "import sys\n\n\n", "import sys\n\nimport time\n\n"),
    { name: "delete blank lines at the end", before: "a\nb\n\n\n\n", goal: "a\nb\n" },
    { name: "add blank lines between all", before: "a\nb\nc\n", goal: "a\n\nb\n\nc\n" },
    plain("close a nested brace", lines("f {", "  g {", "  }", "  h {", "}"), "  h {\n}", "  h {\n  }\n}"),
    { name: "swap two equal blocks' middles", before: lines("{", "one", "}", "{", "two", "}"), goal: lines("{", "two", "}", "{", "one", "}") },
    // Blanks and tabs.
    plain("a recipe of tabs only", make, "\tstrip one.o\n", "\tstrip one.o\n\techo done\n"),
    plain("change a line that begins with a tab", make, "\tcc -c two.c", "\tcc -O2 -c two.c"),
    { name: "tabs become blanks", before: make, goal: make.replaceAll("\t", "    ") },
    { name: "indent a block", before: python, goal: swap(python, "        self.lights = True\n        return self\n",
        "        if True:\n            self.lights = True\n        return self\n") },
    plain("take away blanks at the end of a line", prose, "dawn.  \n", "dawn.\n"),
    plain("keep two blanks at the end of a line", prose, "We left at dawn.  ", "They left at dawn.  "),
    { name: "a line of blanks only", before: "a\n    \nb\n", goal: "a\n        \nb\n" },
    plain("a no-break space", "one\u00a0two\nthree\n", "one\u00a0two", "one two"),
    // Line ends.
    plain("change a line of CRLF", crlf, "port = 2\r\n", "port = 22\r\n"),
    plain("insert a line in CRLF", crlf, "name = b\r\n", "name = b\r\nhost = h\r\n"),
    plain("delete a section of CRLF", crlf, "[one]\r\nname = a\r\nport = 1\r\n\r\n", ""),
    { name: "no final newline: change the last line", before: "a\nb\nlast", goal: "a\nb\nLAST" },
    { name: "no final newline: add a line", before: "a\nlast", goal: "a\nlast\nmore" },
    { name: "no final newline: delete the last line", before: "a\nb\nlast", goal: "a\nb\n" },
    { name: "no final newline: change the first line", before: "a\nb\nlast", goal: "A\nb\nlast" },
    { name: "add the final newline", before: "a\nb", goal: "a\nb\n" },
    { name: "take the final newline away", before: "a\nb\n", goal: "a\nb", by: ["text", "patch", "insert"] },
    { name: "one line without an end", before: "only", goal: "the only" },
    // Characters.
    plain("text with arrows", lines("a -> b", "b → c", "12→not a number", "c => d"), "b → c", "b → d"),
    plain("lines that look numbered", lines("1\tone", "2\ttwo", "3\tthree"), "2\ttwo", "2\tTWO"),
    plain("JSON with backslashes", json, '"C:\\\\work\\\\new"', '"D:\\\\work\\\\old\\\\"'),
    plain("JSON with escapes", json, '"a\\tb"', '"a\\tb\\n\\u0041"'),
    plain("quotes of three kinds", lines(`say "a"`, "say 'b'", "say `c`"), "say 'b'", `say '\\'b\\''`),
    plain("emoji and joined characters", lines("👩‍👩‍👧 family", "é (e + accent: e\u0301)", "日本語"), "👩‍👩‍👧 family", "👩‍👧 family"),
    plain("dollar signs and regex", lines("cost: $1 and $&", "a.*b", "^(x|y)$"), "a.*b", "a.+b$1"),
    plain("lines that look like a patch", lines("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-old", "+new", " same"), "-old\n", "-older\n"),
    plain("a very long line", `${"word ".repeat(800)}END\nshort\n`, "END", "THE END"),
    // The agent is wrong about the text.
    { name: "takes tabs for blanks", before: make, seen: make.replaceAll("\t", "    "),
        goal: swap(make.replaceAll("\t", "    "), "    cc -c two.c", "    cc -O2 -c two.c"),
        result: swap(make, "\tcc -c two.c", "\tcc -O2 -c two.c") },
    { name: "takes straight quotes for curly ones", before: lines("say “hi”", "then go"), seen: lines('say "hi"', "then go"),
        goal: lines('say "hello"', "then go"), result: lines("say “hello”", "then go") },
    { name: "takes an indent of four for one of two", before: lines("if a:", "  b()", "  c()"), seen: lines("if a:", "    b()", "    c()"),
        goal: lines("if a:", "    b(1)", "    c()"), result: lines("if a:", "  b(1)", "  c()") },
    { name: "remembers a line that is gone", before: lines("one", "three"), seen: lines("one", "two", "three"),
        goal: lines("one", "TWO", "three"), result: lines("one", "TWO", "three") },
    // Another agent was quicker.
    { name: "stale: lines were added above", before: numbered(20), meanwhile: `new 1\nnew 2\n${numbered(20)}`,
        goal: swap(numbered(20), "line 12\n", "line twelve\n"), result: `new 1\nnew 2\n${swap(numbered(20), "line 12\n", "line twelve\n")}` },
    { name: "stale: lines were deleted above", before: numbered(20), meanwhile: swap(numbered(20), "line 2\nline 3\nline 4\n", ""),
        goal: swap(numbered(20), "line 12\n", "line twelve\n"),
        result: swap(numbered(20), "line 2\nline 3\nline 4\n", "", "line 12\n", "line twelve\n") },
    { name: "stale: the same line was changed", before: numbered(9), meanwhile: swap(numbered(9), "line 5\n", "line five\n"),
        goal: swap(numbered(9), "line 5\n", "line 5!\n"), result: swap(numbered(9), "line 5\n", "line five!\n") },
    { name: "stale: the line was deleted", before: numbered(9), meanwhile: swap(numbered(9), "line 5\n", ""),
        goal: swap(numbered(9), "line 5\n", ""), result: swap(numbered(9), "line 5\n", "") },
    { name: "stale: equal lines moved under the number", before: lines("x = 1", "a", "x = 1", "b"), meanwhile: lines("x = 1", "x = 1", "a", "x = 1", "b"),
        goal: lines("x = 1", "a", "x = 2", "b"), result: lines("x = 1", "x = 1", "a", "x = 2", "b") },
    { name: "stale: insert after a line that moved", before: numbered(9), meanwhile: `top\n${numbered(9)}`,
        goal: swap(numbered(9), "line 4\n", "line 4\nafter four\n"), result: `top\n${swap(numbered(9), "line 4\n", "line 4\nafter four\n")}` },
    { name: "stale: another appended", before: numbered(5), meanwhile: `${numbered(5)}appended\n`,
        goal: swap(numbered(5), "line 5\n", "line 5 changed\n"), result: `${swap(numbered(5), "line 5\n", "line 5 changed\n")}appended\n` },
    { name: "stale: renamed by another, used by this one", before: program, meanwhile: program.replaceAll("parse", "read"),
        goal: swap(program, "return 2 * value;", "return 3 * value;"), result: swap(program.replaceAll("parse", "read"), "return 2 * value;", "return 3 * value;") },
];
