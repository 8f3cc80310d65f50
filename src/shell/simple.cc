// Simple commands: words, assignments, redirections, and the texts of here-documents.
// A word is an assignment only before the first word of a command, or behind declare and its kin.
// The tree keeps the kind and the target of a redirection, which decide about files. The text of a
// here-document is known only at the end of the line, so read_here_docs() fills the target that
// redirect() has made.
#include <algorithm>

#include "base/concat.h"
#include "shell/parser_body.h"

namespace quire::shell {

namespace {

// Builtins whose arguments may be assignments of arrays.
bool declares(const Command& command) {
    constexpr std::string_view kNames[] = {"declare", "typeset", "local", "export", "readonly"};
    if (command.words.empty() || command.words.front().parts.size() != 1) return false;
    const Part& part = command.words.front().parts.front();
    return part.kind == PartKind::literal &&
           std::find(std::begin(kNames), std::end(kNames), part.text) != std::end(kNames);
}

}  // namespace

// --- simple commands ---------------------------------------------------------------------------

// bash reads NAME[ up to the ']' as one word, whatever it has in it.
// A subscript with a blank that is not assigned to is refused: the parser does not guess how bash
// would split it.
Result<bool> Parser::is_assignment_ahead() {
    if (!is_name_start(peek())) return false;
    std::size_t at = at_;
    while (is_name_char(byte_at(at))) at = after(at);
    bool has_blank = false;
    if (byte_at(at) == '[') {
        const std::size_t close = subscript_end(at, has_blank);
        if (close == 0) return unexpected("a subscript that is closed");
        at = close;
    }
    const bool assigns = byte_at(at) == '=' || (byte_at(at) == '+' && byte_at(after(at)) == '=');
    if (has_blank && !assigns) return unexpected("an assignment");
    return assigns;
}

std::size_t Parser::subscript_end(std::size_t place, bool& has_blank) const {
    // The bound keeps an unclosed '[' cheap.
    constexpr std::size_t kLongest = 4096;
    int open = 0;
    const std::size_t begin = place;
    for (; place < begin + kLongest; place = after(place)) {
        const char c = byte_at(place);
        if (c == '\0') return 0;
        if (c == '[') ++open;
        if (c == ']' && --open == 0) return after(place);
        has_blank = has_blank || is_bare_end(c);
    }
    return 0;
}

Result<Assignment> Parser::assignment() {
    Assignment out;
    const std::size_t line = line_here();
    while (is_name_char(peek())) out.name += take();
    if (peek() == '[') {
        take();
        out.subscript.push_back(TRY(word(Ends::bracket)));
        if (!take_if("]")) return unclosed("[", line);
    }
    out.appends = take_if("+");
    take_if("=");
    if (peek() != '(') {
        out.values.push_back(TRY(word()));
        return out;
    }
    if (!out.subscript.empty()) return unexpected("a value");
    take();
    out.is_array = true;
    for (TRY(skip_newlines()); is_word_ahead(); TRY(skip_newlines())) {
        bool has_blank = false;
        if (peek() == '[' && (subscript_end(at_, has_blank) == 0 || has_blank))
            return unexpected("a subscript that is closed");
        out.values.push_back(TRY(word()));
    }
    if (!take_if(")")) return unclosed("(", line);
    return out;
}

Result<Command> Parser::simple() {
    Command out;
    for (skip_blanks();; skip_blanks()) {
        if (is_redirect_ahead()) {
            out.redirects.push_back(TRY(redirect()));
        } else if (peek() == '(' && out.words.size() == 1 && out.assignments.empty() &&
                   out.redirects.empty()) {
            // "name()" defines a function. A quoted name or one with an expansion is an error, as
            // in bash.
            const Word& name = out.words.front();
            if (name.parts.size() != 1 || name.parts.front().kind != PartKind::literal ||
                name.parts.front().quoted)
                return unexpected("an operator or a new line");
            take();
            skip_blanks();
            if (!take_if(")")) return unexpected("')'");
            return function(name.parts.front().text);
        } else if (!is_word_ahead()) {
            break;
        } else if ((out.words.empty() || declares(out)) && TRY(is_assignment_ahead())) {
            Assignment made = TRY(assignment());
            made.is_argument = !out.words.empty();
            out.assignments.push_back(std::move(made));
        } else {
            out.words.push_back(TRY(word()));
        }
    }
    if (out.words.empty() && out.assignments.empty() && out.redirects.empty()) return unexpected();
    if (peek() == '(') return unexpected("an operator or a new line");
    return out;
}

// --- redirections ------------------------------------------------------------------------------

// A redirection begins with its operator, or with a number or {name} directly before the operator.
// A blank between them makes the number an operand. "<(" without a number is a process
// substitution.
bool Parser::is_redirect_ahead() {
    if (starts_with("&>")) return true;
    const char first = peek();
    std::size_t at = at_;
    if (first == '{') {
        const std::size_t name = at = after(at);
        while (is_name_char(byte_at(at))) at = after(at);
        if (at == name || byte_at(at) != '}') return false;
        at = after(at);
    } else {
        while (is_digit(byte_at(at))) at = after(at);
    }
    const char c = byte_at(at);
    return (c == '<' || c == '>') && !(at == at_ && peek(1) == '(');
}

Result<void> Parser::redirects(Command& out) {
    for (skip_blanks(); is_redirect_ahead(); skip_blanks())
        out.redirects.push_back(TRY(redirect()));
    return {};
}

Result<Redirect> Parser::redirect() {
    Redirect out;
    if (peek() == '{') {
        // With {name} the shell picks a descriptor and stores its number in the variable.
        take();
        while (peek() != '}') out.variable += take();
        take();
    } else if (is_digit(peek())) {
        out.fd = 0;
        while (is_digit(peek())) out.fd = std::min(out.fd * 10 + (take() - '0'), 100'000);
    }
    struct Operator {
        std::string_view text;
        RedirectKind kind;
    };
    // The first that fits is taken, so longer ones stand before their beginnings.
    constexpr Operator kOperators[] = {
        {"&>>", RedirectKind::append_both}, {"&>", RedirectKind::write_both},
        {"<<<", RedirectKind::here_string}, {"<<-", RedirectKind::here_doc},
        {"<<", RedirectKind::here_doc},     {"<&", RedirectKind::duplicate},
        {"<>", RedirectKind::read_write},   {"<", RedirectKind::read},
        {">>", RedirectKind::append},       {">&", RedirectKind::duplicate},
        {">|", RedirectKind::write},        {">", RedirectKind::write}};
    std::string_view taken;
    for (const Operator& each : kOperators) {
        if (!starts_with(each.text)) continue;
        taken = each.text;
        out.kind = each.kind;
        break;
    }
    take_if(taken);
    skip_blanks();
    if (!is_word_ahead() || is_redirect_ahead()) return unexpected("a redirection's target");
    auto target = std::make_shared<Word>(TRY(word()));
    if (target->source == "\\") return unexpected("a redirection's target");
    if (out.kind == RedirectKind::here_doc) {
        // Any quote in the delimiter makes the whole text literal.
        PendingHereDoc pending{target, {}, false, taken == "<<-"};
        for (const Part& part : target->parts) {
            if (part.kind != PartKind::literal)
                return unexpected("a here-document's delimiter without expansions");
            pending.delimiter += part.text;
            pending.quoted = pending.quoted || part.quoted;
        }
        here_docs_.push_back(std::move(pending));
    }
    out.target = std::move(target);
    return out;
}

// Reads the texts of the here-documents that the line before has begun.
Result<void> Parser::read_here_docs() {
    for (PendingHereDoc& each : std::exchange(here_docs_, {})) {
        const std::size_t line = line_here();
        std::string text;
        bool continues = false;  // The line before ended in a backslash.
        bool is_closed = false;
        while (at_ < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            std::string_view row = text_.substr(at_, end - at_);
            at_ = std::min(end + 1, text_.size());
            if (each.strips_tabs && !continues)
                row.remove_prefix(std::min(row.find_first_not_of('\t'), row.size()));
            is_closed = !continues && row == each.delimiter;
            if (is_closed) break;
            text.append(row).append("\n");
            // An odd number of backslashes escapes the newline: the next line is part of this one,
            // and can neither end the text nor lose its tabs.
            std::size_t slashes = 0;
            while (slashes < row.size() && row[row.size() - slashes - 1] == '\\') ++slashes;
            continues = !each.quoted && slashes % 2 == 1;
        }
        if (!is_closed) return unclosed(cat("here-document ", each.delimiter), line);
        Word body;
        if (each.quoted) {
            add_literal(body, text, true);
        } else {
            const Level level(budget_);
            body = TRY(Parser(text, budget_, line).here_doc_text());
        }
        *each.target = std::move(body);
    }
    return {};
}

}  // namespace quire::shell
