// The inside of [[ … ]]. A condition has operators of its own, and what stands behind == or =~ is a pattern
// or an expression, in which parentheses are no operators.
#include "base/concat.h"
#include "shell/parser_body.h"

namespace quire::shell {

// Reads terms that "||" joins (`level` 0), or those that "&&" joins (1). The tree keeps operands
// and operators as a flat list: the run evaluates all of them, whatever the condition decides.
Result<void> Parser::condition(Command& out, int level) {
    for (;;) {
        TRY(level == 0 ? condition(out, 1) : condition_term(out, 0));
        TRY(skip_newlines());
        const std::string_view join = level == 0 ? "||" : "&&";
        if (!take_if(join)) return {};
        TRY(skip_newlines());
    }
}

Result<void> Parser::condition_term(Command& out, int depth) {
    const Level level(budget_);
    TRY(spend());
    TRY(skip_newlines());
    if (take_reserved("!")) return condition_term(out, depth + 1);
    if (peek() == '(') {
        take();
        TRY(condition(out, 0));
        TRY(skip_newlines());
        if (!take_if(")")) return unexpected("')'");
        return {};
    }
    if (!is_word_ahead() || bare_word() == "]]") return unexpected("an operand in [[ … ]]");
    const std::string first = bare_word();
    out.words.push_back(TRY(word()));
    skip_blanks();
    const auto is_operand_ahead = [&] { return is_word_ahead() && bare_word() != "]]"; };
    const bool is_unary = first.size() == 2 && first.front() == '-' && is_name_start(first[1]);
    if (is_unary) {
        if (!is_operand_ahead()) return unexpected("an operand in [[ … ]]");
        out.words.push_back(TRY(word()));
        return {};
    }
    constexpr std::string_view kBinary[] = {"==",  "!=",  "=~",  "=",   "-eq", "-ne", "-lt",
                                            "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};
    std::string_view found;
    for (const std::string_view each : kBinary) {
        if (bare_word() == each) found = each;
    }
    if (found.empty() && (peek() == '<' || peek() == '>') && peek(1) != '(')
        found = peek() == '<' ? "<" : ">";
    if (found.empty()) {
        if (is_operand_ahead()) return unexpected("an operator in [[ … ]]");
        return {};
    }
    take_if(found);
    // The word of an operator has no source, which tells it from an operand in
    // Run::eval_condition().
    Word marker;
    add_literal(marker, found, true);
    out.words.push_back(std::move(marker));
    skip_blanks();
    const bool is_regex = found == "=~";
    const bool is_pattern = found == "==" || found == "!=" || found == "=";
    if (!(is_regex && peek() == '(') && !is_operand_ahead())
        return unexpected("an operand in [[ … ]]");
    out.words.push_back(TRY(word(is_regex     ? Ends::regex
                                 : is_pattern ? Ends::pattern
                                              : Ends::word)));
    if (is_regex && starts_with("||") && text_[at_ - 1] != ' ')
        return unexpected("a blank behind the expression");
    return {};
}

}  // namespace quire::shell
