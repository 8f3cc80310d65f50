// Words: quotes, escapes and expansions.
//
// One loop, parts_until(), reads every kind of text; the contexts differ in what ends them and in
// what a backslash or a quote means there. A word ends at a blank or an operator, the operand of
// ${…} at its brace, an arithmetic expression at its parentheses.
//
// A substitution $(…) is parsed in place, and not by a search for its ')': a ')' may also stand in
// quotes, in a comment, or behind a pattern of case. Backquotes and here-documents have escapes of
// their own, so their text is unescaped first and read by a second parser, which shares the budget.
#include <algorithm>

#include "base/concat.h"
#include "base/utf8.h"
#include "shell/parser_body.h"

namespace quire::shell {

namespace {

bool is_meta(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '|' || c == '&' || c == ';' || c == '(' ||
           c == ')' || c == '<' || c == '>';
}

bool is_special_parameter(char c) {
    return c == '@' || c == '*' || c == '#' || c == '?' || c == '-' || c == '$' || c == '!';
}

// In [[ … ]] bash has the patterns ?(…), *(…), +(…), @(…) and !(…) switched on at all times.
bool ends_in_group_mark(const Word& word) {
    if (word.parts.empty()) return false;
    const Part& last = word.parts.back();
    return last.kind == PartKind::literal && !last.quoted && !last.text.empty() &&
           std::string_view("?*+@!").find(last.text.back()) != std::string_view::npos;
}

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

// Neighbours that are quoted alike become one part, so that a plain word has exactly one.
void Parser::add_literal(Word& word, std::string_view text, bool quoted) {
    const bool joins = !word.parts.empty() && word.parts.back().kind == PartKind::literal &&
                       word.parts.back().quoted == quoted;
    if (!joins) word.parts.push_back({PartKind::literal, quoted, ""});
    word.parts.back().text += text;
}

void Parser::add_literal(Word& word, char c, bool quoted) {
    add_literal(word, std::string_view(&c, 1), quoted);
}

bool Parser::is_word_ahead() {
    const char c = peek();
    if (c == '\0') return false;
    if ((c == '<' || c == '>') && peek(1) == '(') return true;
    return !is_meta(c);
}

Result<Word> Parser::word(Ends ends) {
    TRY(spend());
    skip_escaped_newlines();
    Word out;
    out.line = line_here();
    const std::size_t begin = at_;
    TRY(parts_until(ends, false, out));
    out.source = text_.substr(begin, at_ - begin);
    return out;
}

// Called on a parser of its own, whose text is the body of the here-document.
Result<Word> Parser::here_doc_text() {
    Word out;
    out.line = line_here();
    TRY(parts_until(Ends::nothing, true, out));
    out.source = text_;
    return out;
}

// Appends parts to `out` up to the end of the context, which is not taken, or to the end of the
// script. The caller checks that its closing mark is there. A newline ends patterns and expressions
// always.
//
//  context       ends before                        peculiar to it
//  word          a blank or an operator             <( and >( begin a process substitution
//  pattern       the same, outside of a group       ?( *( +( @( !( begin a group
//  regex         the same, outside of parentheses   a single | is part of the expression
//  brace         }                                  the operand of ${…}
//  double_quote  "                                  a ' is plain
//  bracket       a ] that was not opened in it      subscripts and $[…]
//  arithmetic    a ) that was not opened in it      a ' is plain
//  nothing       the end of the text                here-documents: quotes are plain
Result<void> Parser::parts_until(Ends ends, bool quoted, Word& out) {
    const bool is_plain_word = ends == Ends::word || ends == Ends::pattern || ends == Ends::regex;
    int open = 0;  // Parentheses, or brackets.
    for (;;) {
        const char c = peek();
        if (c == '\0') return {};
        switch (ends) {
            case Ends::word:
                if (is_meta(c) && !((c == '<' || c == '>') && peek(1) == '(')) return {};
                break;
            case Ends::pattern:
            case Ends::regex: {
                // Parentheses group a regular expression, and in a pattern what follows ?*+@!.
                const bool begins_group =
                    c == '(' && (ends == Ends::regex || ends_in_group_mark(out));
                const bool is_alternative = ends == Ends::regex && c == '|' && peek(1) != '|';
                if (open == 0 && is_meta(c) && !begins_group && !is_alternative) return {};
                if (c == '\n') return {};
                if (c == '(') ++open;
                if (c == ')') --open;
                break;
            }
            case Ends::brace:
                if (c == '}') return {};
                break;
            case Ends::double_quote:
                if (c == '"') return {};
                break;
            case Ends::bracket:
                if (c == ']' && open == 0) return {};
                if (c == '[') ++open;
                if (c == ']') --open;
                break;
            case Ends::arithmetic:
                if (c == ')' && open == 0) return {};
                if (c == '(') ++open;
                if (c == ')') --open;
                break;
            case Ends::nothing:
                break;
        }
        if (c == '\\') {
            take();
            const char next = at_ < text_.size() ? text_[at_] : '\0';
            if (next == '\0') {
                add_literal(out, '\\', true);
                continue;
            }
            // Between double quotes a backslash escapes only these characters, and is text before
            // others. In a here-document it is text before a double quote too.
            const bool keeps = quoted && next != '$' && next != '`' && next != '\\' &&
                               !(next == '"' && ends != Ends::nothing);
            ++at_;
            if (keeps) add_literal(out, '\\', true);
            add_literal(out, next, true);
        } else if (c == '\'' && !quoted && ends != Ends::arithmetic) {
            TRY(single_quoted(out));
        } else if (c == '"' && ends != Ends::nothing && !(quoted && ends == Ends::double_quote)) {
            TRY(double_quoted(out));
        } else if (c == '`') {
            TRY(back_quoted(quoted, out));
        } else if (c == '$') {
            TRY(dollar(quoted, out));
        } else if (is_plain_word && (c == '<' || c == '>') && peek(1) == '(') {
            Part part;
            take();
            take();
            part = TRY(substitution());
            part.kind = PartKind::process;
            part.operation = std::string(1, c);
            out.parts.push_back(std::move(part));
        } else {
            add_literal(out, take(), quoted);
        }
    }
}

Result<void> Parser::single_quoted(Word& out) {
    const std::size_t line = line_here();
    const std::size_t close = text_.find('\'', at_ + 1);
    if (close == std::string_view::npos) return unclosed("'", line);
    add_literal(out, text_.substr(at_ + 1, close - at_ - 1), true);
    at_ = close + 1;
    return {};
}

Result<void> Parser::double_quoted(Word& out) {
    const std::size_t line = line_here();
    take();
    add_literal(out, "", true);  // "" is a word too.
    TRY(parts_until(Ends::double_quote, true, out));
    if (peek() != '"') return unclosed("\"", line);
    take();
    return {};
}

// $'…', where a backslash begins an escape as in C. A NUL ends the text, as in bash.
Result<void> Parser::ansi_quoted(Word& out) {
    const std::size_t line = line_here();
    ++at_;
    std::string text;
    bool ended = false;
    const auto digits = [&](int base, std::size_t most) {
        char32_t value = 0;
        for (std::size_t i = 0; i < most && at_ < text_.size(); ++i) {
            const int digit = hex_value(text_[at_]);
            if (digit < 0 || digit >= base) break;
            value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
            ++at_;
        }
        return value;
    };
    const auto put = [&](char c) {
        if (c == '\0') ended = true;
        if (!ended) text += c;
    };
    while (at_ < text_.size() && text_[at_] != '\'') {
        const char c = text_[at_++];
        if (c != '\\' || at_ == text_.size()) {
            put(c);
            continue;
        }
        constexpr std::string_view kNames = "abeEfnrtv\\'\"?";
        constexpr std::string_view kMeant = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";
        const char escape = text_[at_++];
        if (const std::size_t which = kNames.find(escape); which != std::string_view::npos) {
            put(kMeant[which]);
        } else if (escape >= '0' && escape <= '7') {
            --at_;
            put(static_cast<char>(digits(8, 3)));
        } else if (escape == 'x' && at_ < text_.size() && hex_value(text_[at_]) >= 0) {
            put(static_cast<char>(digits(16, 2)));
        } else if ((escape == 'u' || escape == 'U') && at_ < text_.size() &&
                   hex_value(text_[at_]) >= 0) {
            const char32_t point = digits(16, escape == 'u' ? 4 : 8);
            if (point == 0) ended = true;
            // bash encodes such a number as bytes that are not UTF-8. The parser refuses it.
            if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
                return unexpected("a code point in $'…'");
            if (!ended) utf8::append(text, point);
        } else if (escape == 'c' && at_ < text_.size()) {
            put(static_cast<char>(text_[at_++] & 0x1F));
        } else {
            put('\\');
            put(escape);
        }
    }
    if (at_ == text_.size()) return unclosed("$'", line);
    ++at_;
    add_literal(out, text, true);
    return {};
}

// `…`: a backslash before $, ` and \ is taken away, and so before " inside double quotes.
Result<void> Parser::back_quoted(bool quoted, Word& out) {
    const std::size_t line = line_here();
    ++at_;
    std::string script;
    while (at_ < text_.size() && text_[at_] != '`') {
        char c = text_[at_++];
        if (c == '\\' && at_ < text_.size()) {
            const char next = text_[at_];
            if (next == '$' || next == '`' || next == '\\' || (quoted && next == '"')) {
                c = next;
                ++at_;
            }
        }
        script += c;
    }
    if (at_ == text_.size()) return unclosed("`", line);
    ++at_;
    const Level level(budget_);
    TRY(spend());
    Part part{PartKind::command, quoted, ""};
    part.script = std::make_shared<const Script>(TRY(Parser(script, budget_, line).script()));
    out.parts.push_back(std::move(part));
    return {};
}

Result<Part> Parser::substitution() {
    const std::size_t line = line_here();
    const Level level(budget_);
    TRY(spend());
    Part part{PartKind::command, false, ""};
    // A here-document that begins within the substitution must have its text within it too.
    const std::size_t pending = here_docs_.size();
    auto script = std::make_shared<Script>();
    script->list = TRY(list({")"}));
    if (peek() != ')') return is_end() ? unclosed("$(", line) : unexpected(")");
    if (here_docs_.size() != pending) return unexpected("the text of the here-document");
    take();
    part.script = std::move(script);
    return part;
}

// True if the text from `open`, behind "((", ends in "))" that belong to those.
// "$((" and "((" may also begin a subshell in a substitution or in another one, as in "$((ls);
// pwd)". Only the matching parenthesis tells, so this scans ahead for it. O(length of the
// expression), and a parse pays for all of its looks together: a "((" in a comment or in a
// here-document could make each of them go on to the end of the script.
Result<bool> Parser::is_arithmetic_ahead(std::size_t open) {
    int depth = 0;
    std::size_t i = open;
    bool is_closed = false;
    for (; i < text_.size() && !is_closed; ++i) {
        const char c = text_[i];
        if (c == '\\') {
            ++i;
        } else if (c == '\'' || c == '"' || c == '`') {
            i = std::min(text_.find(c, i + 1), text_.size());
        } else if (c == '(') {
            ++depth;
        } else if (c == ')') {
            is_closed = depth-- == 0;
        }
    }
    const std::size_t most = budget_.limits.bytes * 8;
    budget_.looked += i - open;
    if (budget_.looked > most)
        return fail(Errc::out_of_range, "too_complex",
                    "the command has too many \"((\" to be read; run it in parts",
                    {{"limit", most}});
    return is_closed && byte_at(i) == ')';
}

Result<Word> Parser::arithmetic_until(std::string_view close) {
    const std::size_t line = line_here();
    const Level level(budget_);
    Word expression = TRY(word(close == "]" ? Ends::bracket : Ends::arithmetic));
    if (!take_if(close)) return unclosed("((", line);
    return expression;
}

Result<void> Parser::dollar(bool quoted, Word& out) {
    take();
    const char c = peek();
    if (c == '(') {
        take();
        skip_escaped_newlines();
        if (peek() == '(' && TRY(is_arithmetic_ahead(at_ + 1))) {
            take();
            Part part{PartKind::arithmetic, quoted, ""};
            part.words.push_back(TRY(arithmetic_until("))")));
            out.parts.push_back(std::move(part));
            return {};
        }
        Part part = TRY(substitution());
        part.quoted = quoted;
        out.parts.push_back(std::move(part));
        return {};
    }
    if (c == '{') return braced_parameter(quoted, out);
    if (c == '[') {
        take();
        Part part{PartKind::arithmetic, quoted, ""};
        part.words.push_back(TRY(arithmetic_until("]")));
        out.parts.push_back(std::move(part));
        return {};
    }
    if (c == '\'' && !quoted) return ansi_quoted(out);
    if (c == '"' && !quoted) return double_quoted(out);
    Part part{PartKind::parameter, quoted, ""};
    if (is_name_start(c)) {
        while (is_name_char(peek())) part.text += take();
    } else if (is_digit(c) || is_special_parameter(c)) {
        part.text = std::string(1, take());
    } else {
        add_literal(out, '$', quoted);
        return {};
    }
    out.parts.push_back(std::move(part));
    return {};
}

Result<void> Parser::braced_parameter(bool quoted, Word& out) {
    const std::size_t line = line_here();
    const Level level(budget_);
    TRY(spend());
    take();
    Part part{PartKind::parameter, quoted, ""};
    // "${#}" and "${!}" are parameters, "${#name}" and "${!name}" have an operator before the name.
    const bool has_prefix = (peek() == '#' || peek() == '!') && peek(1) != '}' &&
                            (is_name_char(peek(1)) || is_special_parameter(peek(1)));
    if (has_prefix) part.operation = std::string(1, take());
    if (is_name_start(peek())) {
        while (is_name_char(peek())) part.text += take();
    } else if (is_digit(peek())) {
        while (is_digit(peek())) part.text += take();
    } else if (is_special_parameter(peek())) {
        part.text = std::string(1, take());
    } else {
        return unexpected("a parameter's name in ${…}");
    }
    if (peek() == '[') {
        take();
        part.operation += '[';
        part.words.push_back(TRY(word(Ends::bracket)));
        if (!take_if("]")) return unclosed("${…[", line);
    }
    if (peek() != '}' && part.operation.starts_with('#')) return unexpected("'}'");
    if (peek() != '}') {
        // The first that fits is taken, so each stands before those that are its beginning.
        constexpr std::string_view kOperators[] = {
            ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "~~", "-",
            "=",  "?",  "+",  "#",  "%",  "/",  "^",  ",",  "~",  ":",  "@",  "*"};
        std::string_view found;
        for (const std::string_view each : kOperators) {
            if (found.empty() && starts_with(each)) found = each;
        }
        if (found.empty()) return unexpected("an operator in ${…}");
        take_if(found);
        part.operation += found;
        // Quotes keep their meaning in patterns, and not in defaults within double quotes.
        const bool is_pattern = found.find_first_of("#%/^,~") != std::string_view::npos;
        Word operand;
        operand.line = line;
        const std::size_t begin = at_;
        TRY(parts_until(Ends::brace, quoted && !is_pattern, operand));
        operand.source = text_.substr(begin, at_ - begin);
        part.words.push_back(std::move(operand));
    }
    if (peek() != '}') return unclosed("${", line);
    take();
    out.parts.push_back(std::move(part));
    return {};
}

}  // namespace quire::shell
