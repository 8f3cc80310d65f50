// Commands: lists, pipelines, compound commands, redirections and here-documents.
//
// A list is read until one of the words that end it, which its reader expects; so a reserved word is
// one exactly where a command could begin. Here-documents are noted where their operator stands, and
// their text is read at the next newline, as in bash.
//
// Commands nest by recursion. Words and commands are counted against ParseBudget, and so is the
// depth of commands, substitutions and ${…}. Every look ahead goes through peek(), which passes
// over escaped newlines: bash removes them before it splits a text into tokens.
#include "shell/parser.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "shell/parser_body.h"

namespace quire::shell {

namespace {

constexpr std::string_view kReserved[] = {
    "if",  "then",   "elif",     "else", "fi", "do", "done", "case", "esac",   "while", "until",
    "for", "select", "function", "time", "!",  "{",  "}",    "[[",   "coproc", "in",    "]]"};

bool is_reserved(std::string_view word) {
    return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
}

bool is_variable_name(std::string_view word) {
    return !word.empty() && is_name_start(word.front()) &&
           std::all_of(word.begin(), word.end(), is_name_char);
}

}  // namespace

// --- bytes -------------------------------------------------------------------------------------

void Parser::skip_escaped_newlines() {
    while (at_ + 1 < text_.size() && text_[at_] == '\\' && text_[at_ + 1] == '\n') at_ += 2;
}

std::size_t Parser::after(std::size_t place) const {
    ++place;
    while (place + 1 < text_.size() && text_[place] == '\\' && text_[place + 1] == '\n') place += 2;
    return place;
}

char Parser::byte_at(std::size_t place) const {
    return place < text_.size() ? text_[place] : '\0';
}

char Parser::peek(std::size_t ahead) {
    skip_escaped_newlines();
    std::size_t at = at_;
    for (; ahead > 0; --ahead) at = after(at);
    return byte_at(at);
}

char Parser::take() {
    skip_escaped_newlines();
    return text_[at_++];
}

bool Parser::starts_with(std::string_view operator_text) {
    for (std::size_t i = 0; i < operator_text.size(); ++i) {
        if (peek(i) != operator_text[i]) return false;
    }
    return true;
}

bool Parser::take_if(std::string_view operator_text) {
    if (!starts_with(operator_text)) return false;
    for (std::size_t i = 0; i < operator_text.size(); ++i) take();
    return true;
}

bool Parser::is_end() {
    return peek() == '\0';
}

void Parser::skip_blanks() {
    while (is_blank(peek())) ++at_;
    if (peek() != '#') return;
    const bool begins_word = at_ == 0 || is_bare_end(text_[at_ - 1]);
    if (begins_word) at_ = std::min(text_.find('\n', at_), text_.size());
}

// Counts newlines from the place that was asked for last: O(script) for all line numbers together.
std::size_t Parser::line_here() {
    for (; line_at_ < at_; ++line_at_) line_ += text_[line_at_] == '\n' ? 1 : 0;
    return line_;
}

Failure Parser::unexpected(std::string_view wanted) {
    const std::size_t line = line_here();
    std::string what = is_end()         ? std::string("the end of the script")
                       : peek() == '\n' ? "the end of the line"
                                        : cat("'", std::string(1, peek()), "'");
    if (const std::string word = bare_word(); word.size() > 1) what = cat("'", word, "'");
    return invalid("syntax_error",
                   cat("line ", line, " of the command has ", what, " where ",
                       wanted.empty() ? "a command" : wanted, " is expected"),
                   {{"line", line}});
}

Failure Parser::unclosed(std::string_view what, std::size_t line) {
    return invalid("syntax_error", cat("the ", what, " of line ", line, " is not closed"),
                   {{"line", line}});
}

Result<void> Parser::spend() {
    const ParseLimits& limits = budget_.limits;
    const bool deep = budget_.depth > limits.depth;
    if (!deep && ++budget_.nodes <= limits.nodes) return {};
    const std::size_t limit = deep ? limits.depth : limits.nodes;
    return fail(Errc::out_of_range, "too_complex",
                cat("the command has more than ", limit, deep ? " levels" : " words and commands",
                    "; run it in parts"),
                {{"limit", limit}});
}

// --- scripts and lists -------------------------------------------------------------------------

Result<Script> parse(std::string_view script, const ParseLimits& limits) {
    if (script.size() > limits.bytes) {
        return fail(Errc::out_of_range, "too_complex",
                    cat("the command has more than ", limits.bytes, " bytes; put it into a file"),
                    {{"limit", limits.bytes}});
    }
    if (script.find('\0') != std::string_view::npos)
        return invalid("syntax_error", "a command has no NUL in it", {{"line", 1}});
    ParseBudget budget{limits};
    return Parser(script, budget).script();
}

Result<Script> Parser::script() {
    Script out;
    out.list = TRY(list({}));
    if (!is_end()) return unexpected();
    return out;
}

std::string Parser::bare_word(std::size_t longest) {
    std::string out;
    skip_escaped_newlines();
    for (std::size_t at = at_;; at = after(at)) {
        const char c = byte_at(at);
        if (is_bare_end(c)) return out;
        const bool is_quote = c == '\'' || c == '"' || c == '$' || c == '`' || c == '\\';
        if (is_quote || out.size() == longest) return "";
        out += c;
    }
}

bool Parser::is_at(std::initializer_list<std::string_view> ends) {
    const std::string word = bare_word();
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
        const bool is_operator = end.front() == ')' || end.front() == ';';
        return is_operator ? starts_with(end) : word == end;
    });
}

bool Parser::take_reserved(std::string_view word) {
    skip_blanks();
    return bare_word() == word && take_if(word);
}

Result<void> Parser::expect(std::string_view word) {
    if (take_reserved(word)) return {};
    return unexpected(cat("'", word, "'"));
}

Result<void> Parser::skip_newlines() {
    for (skip_blanks(); peek() == '\n'; skip_blanks()) {
        take();
        TRY(read_here_docs());
    }
    return {};
}

// Stops without an error at anything that cannot follow an item; the caller says what it expected.
Result<List> Parser::list(std::initializer_list<std::string_view> ends) {
    List out;
    for (;;) {
        TRY(skip_newlines());
        if (is_end() || is_at(ends)) break;
        out.items.push_back(TRY(and_or()));
        skip_blanks();
        if (peek() == ';' && peek(1) != ';' && peek(1) != '&') {
            take();
        } else if (peek() == '&' && peek(1) != '&') {
            take();
            out.items.back().background = true;
        } else if (peek() != '\n') {
            break;
        }
    }
    // The script ends on the line of a "<<". The call reports that its here-document is not closed.
    if (is_end() && !here_docs_.empty()) TRY(read_here_docs());
    return out;
}

Result<List> Parser::body(std::initializer_list<std::string_view> ends) {
    List out = TRY(list(ends));
    if (out.items.empty()) return unexpected();
    return out;
}

Result<AndOr> Parser::and_or() {
    AndOr out;
    out.pipelines.push_back(TRY(pipeline()));
    for (skip_blanks(); starts_with("&&") || starts_with("||"); skip_blanks()) {
        out.joins += take();
        take();
        TRY(skip_newlines());
        out.pipelines.push_back(TRY(pipeline()));
    }
    return out;
}

Result<Pipeline> Parser::pipeline() {
    Pipeline out;
    for (skip_blanks();; skip_blanks()) {
        if (take_reserved("!")) {
            out.negated = !out.negated;
        } else if (take_reserved("time")) {
            skip_blanks();
            if (bare_word() == "-p") take_if("-p");
        } else {
            break;
        }
    }
    out.commands.push_back(TRY(command()));
    for (skip_blanks(); peek() == '|' && peek(1) != '|'; skip_blanks()) {
        take();
        // "|&" sends standard error along. That touches no file, so the tree does not tell it from
        // "|".
        take_if("&");
        TRY(skip_newlines());
        out.commands.push_back(TRY(command()));
    }
    return out;
}

// --- commands ----------------------------------------------------------------------------------

Result<Command> Parser::command() {
    const Level level(budget_);
    TRY(spend());
    skip_blanks();
    const std::size_t line = line_here();
    const std::string word = bare_word();
    const bool is_compound = peek() == '(' || (!word.empty() && is_reserved(word));
    Command out = TRY(is_compound ? compound(word) : simple());
    out.line = line;
    return out;
}

Result<Command> Parser::compound(std::string_view word) {
    Command out;
    if (peek() == '(') {
        take();
        if (peek() == '(' && TRY(is_arithmetic_ahead(at_ + 1))) {
            take();
            out.kind = CommandKind::arithmetic;
            out.words.push_back(TRY(arithmetic_until("))")));
        } else {
            out.kind = CommandKind::subshell;
            out.lists.push_back(TRY(body({")"})));
            if (!take_if(")")) return unexpected("')'");
        }
    } else if (word == "{") {
        take();
        out.kind = CommandKind::group;
        out.lists.push_back(TRY(body({"}"})));
        TRY(expect("}"));
    } else if (word == "if") {
        TRY(if_clauses(out));
    } else if (word == "while" || word == "until") {
        take_if(word);
        out.kind = CommandKind::while_;
        out.lists.push_back(TRY(body({"do"})));
        TRY(loop(out));
    } else if (word == "for" || word == "select") {
        take_if(word);
        out.selects = word == "select";
        TRY(for_loop(out));
    } else if (word == "case") {
        TRY(case_items(out));
    } else if (word == "[[") {
        take_if(word);
        out.kind = CommandKind::condition;
        TRY(condition(out, 0));
        TRY(expect("]]"));
    } else if (word == "function") {
        take_if(word);
        skip_blanks();
        std::string name = bare_word(text_.size());
        if (name.empty()) return unexpected("a function's name");
        take_if(name);
        skip_blanks();
        if (peek() == '(') {
            take();
            skip_blanks();
            if (!take_if(")")) return unexpected("')'");
        }
        return function(std::move(name));
    } else if (word == "coproc") {
        take_if(word);
        skip_blanks();
        out.kind = CommandKind::coprocess;
        out.name = "COPROC";
        const std::string name = bare_word(text_.size());
        if (is_variable_name(name) && !is_reserved(name)) {
            // A name is one only before a compound command.
            const std::size_t before = at_;
            take_if(name);
            skip_blanks();
            const bool names = peek() == '(' || is_at({"{", "if", "while", "until", "for", "case"});
            if (!names) at_ = before;
            out.name = names ? name : "COPROC";
        }
        List list;
        list.items.push_back({});
        list.items.back().pipelines.push_back({});
        list.items.back().pipelines.back().commands.push_back(TRY(command()));
        out.lists.push_back(std::move(list));
        return out;
    } else {
        return unexpected();
    }
    TRY(redirects(out));
    skip_blanks();
    // A word that ends the list around may follow without a ';', as in "{ (ls) }". No other may.
    if (is_word_ahead() && !is_at({"then", "do", "done", "fi", "else", "elif", "esac", "}"}))
        return unexpected("an operator or a new line");
    return out;
}

Result<void> Parser::if_clauses(Command& out) {
    out.kind = CommandKind::if_;
    take_if("if");
    for (;;) {
        out.lists.push_back(TRY(body({"then"})));
        TRY(expect("then"));
        out.lists.push_back(TRY(body({"elif", "else", "fi"})));
        if (take_reserved("elif")) continue;
        if (take_reserved("else")) out.lists.push_back(TRY(body({"fi"})));
        return expect("fi");
    }
}

Result<void> Parser::loop(Command& out) {
    TRY(expect("do"));
    out.lists.push_back(TRY(body({"done"})));
    return expect("done");
}

Result<void> Parser::for_loop(Command& out) {
    skip_blanks();
    if (starts_with("((")) {
        take();
        take();
        out.kind = CommandKind::arith_for;
        out.words.push_back(TRY(arithmetic_until("))")));
        const std::string& expressions = out.words.back().source;
        if (std::count(expressions.begin(), expressions.end(), ';') != 2)
            return unexpected("three expressions in for ((…))");
        skip_blanks();
        take_if(";");
    } else {
        out.kind = CommandKind::for_;
        out.name = bare_word(text_.size());
        if (!is_variable_name(out.name)) return unexpected("a variable's name");
        take_if(out.name);
        TRY(skip_newlines());
        out.has_in = take_reserved("in");
        if (out.has_in) {
            for (skip_blanks(); is_word_ahead(); skip_blanks()) out.words.push_back(TRY(word()));
        }
        skip_blanks();
        const bool ends = peek() == '\n' || (peek() == ';' && peek(1) != ';');
        if (out.has_in && !ends) return unexpected("a new line or ';'");
        if (peek() == ';') take();
    }
    TRY(skip_newlines());
    // Braces may stand for do and done, which is not in the manual of bash.
    if (!take_reserved("{")) return loop(out);
    out.lists.push_back(TRY(body({"}"})));
    return expect("}");
}

Result<void> Parser::case_items(Command& out) {
    out.kind = CommandKind::case_;
    take_if("case");
    skip_blanks();
    if (!is_word_ahead()) return unexpected("a word");
    out.words.push_back(TRY(word()));
    TRY(skip_newlines());
    TRY(expect("in"));
    for (;;) {
        TRY(skip_newlines());
        if (take_reserved("esac")) return {};
        if (peek() == '(') take();
        CaseItem item;
        for (;;) {
            skip_blanks();
            if (!is_word_ahead()) return unexpected("a pattern");
            item.patterns.push_back(TRY(word()));
            skip_blanks();
            if (peek() != '|') break;
            take();
        }
        if (!take_if(")")) return unexpected("')'");
        item.body = TRY(list({"esac", ";;", ";&"}));
        out.items.push_back(std::move(item));
        skip_blanks();
        if (take_if(";;&") || take_if(";;") || take_if(";&")) continue;
        return expect("esac");
    }
}

// The body must be a compound command, as in bash. The redirections behind it belong to the body.
Result<Command> Parser::function(std::string name) {
    TRY(skip_newlines());
    const bool is_body =
        peek() == '(' || is_at({"{", "if", "while", "until", "for", "select", "case", "[["});
    if (!is_body) return unexpected("a function's body");
    Command out;
    out.kind = CommandKind::function;
    out.name = std::move(name);
    List list;
    list.items.push_back({});
    list.items.back().pipelines.push_back({});
    list.items.back().pipelines.back().commands.push_back(TRY(command()));
    out.lists.push_back(std::move(list));
    return out;
}

}  // namespace quire::shell
