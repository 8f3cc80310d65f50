// The parser's state, and its two halves: words (words.cc) and commands (parser.cc).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/parser.h"
#include "shell/syntax.h"

namespace quire::shell {

// The budget of one parse, shared by the parsers of the scripts within its script.
// Nothing is ever given back but depth, so the bound holds for the script as a whole.
struct ParseBudget {
    ParseLimits limits;
    std::size_t depth = 0;
    std::size_t nodes = 0;
    std::size_t looked = 0;  // Bytes that is_arithmetic_ahead() has gone through.
};

class Parser {
public:
    Parser(std::string_view text, ParseBudget& budget, std::size_t line = 1)
        : text_(text), budget_(budget), line_(line) {}

    // The whole text as a script.
    Result<Script> script();
    // The whole text as the inside of double quotes, where quotes themselves are plain.
    // Each of the two reads from the start, so it is called once, on a new parser.
    Result<Word> here_doc_text();

private:
    // Counts one level of recursion; spend() compares the count with the limit.
    class Level {
    public:
        explicit Level(ParseBudget& budget) : budget_(budget) { ++budget_.depth; }
        ~Level() { --budget_.depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        ParseBudget& budget_;
    };
    // A here-document whose operator was read and whose text was not. `target` is the word of its
    // Redirect.
    struct PendingHereDoc {
        std::shared_ptr<Word> target;
        std::string delimiter;
        bool quoted = false;
        bool strips_tabs = false;
    };

    // --- bytes ---
    // The byte `ahead` of here, with escaped newlines removed; 0 at the end.
    char peek(std::size_t ahead = 0);
    // take() must not be called at the end. take_if() takes all of the operator or nothing.
    char take();
    bool take_if(std::string_view operator_text);
    bool starts_with(std::string_view operator_text);
    void skip_escaped_newlines();
    bool is_end();
    // For longer looks ahead, where peek() would cost O(distance) for each byte. after() is the place of
    // the next byte behind `place`; byte_at() is 0 at the end.
    std::size_t after(std::size_t place) const;
    char byte_at(std::size_t place) const;
    void skip_blanks();  // And a comment.
    // Counted from 1, for messages. The place must not be before the one of the last call.
    std::size_t line_here();
    // invalid_argument "syntax_error" at this place: what is here, and what was `wanted` ("" for a
    // command).
    Failure unexpected(std::string_view wanted = "");
    // invalid_argument "syntax_error" for a mark that was opened on `line` and never closed.
    Failure unclosed(std::string_view what, std::size_t line);
    // Pays for one word or command. out_of_range "too_complex" if the depth or the number is
    // exceeded.
    Result<void> spend();

    // --- words ---
    // What ends a word beside quotes: blanks and operators, or in other contexts less.
    enum class Ends { word, pattern, regex, brace, double_quote, bracket, arithmetic, nothing };
    Result<Word> word(Ends ends = Ends::word);
    Result<void> parts_until(Ends ends, bool quoted, Word& out);
    // Each of these reads one construct with its marks, and appends what it means to `out`.
    Result<void> dollar(bool quoted, Word& out);
    Result<void> braced_parameter(bool quoted, Word& out);
    Result<void> single_quoted(Word& out);
    Result<void> ansi_quoted(Word& out);
    Result<void> double_quoted(Word& out);
    Result<void> back_quoted(bool quoted, Word& out);
    Result<Part> substitution();  // The list, and its ')'.
    // Looks at the text alone, and takes nothing. out_of_range "too_complex" if such looks add up to many
    // times the text.
    Result<bool> is_arithmetic_ahead(std::size_t open);
    Result<Word> arithmetic_until(std::string_view close);
    bool is_word_ahead();
    static void add_literal(Word& word, std::string_view text, bool quoted);
    static void add_literal(Word& word, char c, bool quoted);

    // --- commands ---
    // Reads items up to one of `ends`, which is not taken: a reserved word, or an operator.
    Result<List> list(std::initializer_list<std::string_view> ends);
    Result<List> body(std::initializer_list<std::string_view> ends);  // Not empty.
    Result<AndOr> and_or();
    Result<Pipeline> pipeline();
    Result<Command> command();
    // `word` is the reserved word ahead, not yet taken; it does not matter if a '(' is ahead.
    Result<Command> compound(std::string_view word);
    Result<Command> simple();
    Result<Command> function(std::string name);
    // These fill `out` with one kind of compound command. Only condition() leaves the closing word.
    Result<void> if_clauses(Command& out);
    Result<void> loop(Command& out);
    Result<void> for_loop(Command& out);
    Result<void> case_items(Command& out);
    Result<void> condition(Command& out, int level);
    Result<void> condition_term(Command& out, int level);
    Result<void> redirects(Command& out);
    bool is_redirect_ahead();
    Result<Redirect> redirect();
    Result<void> read_here_docs();
    Result<void> skip_newlines();
    // The unquoted word ahead, if it is only that and no longer than `longest`; "" else. Nothing is taken.
    // Every reserved word is short; names of loops and functions may have any length.
    static constexpr std::size_t kLongestReserved = 15;
    std::string bare_word(std::size_t longest = kLongestReserved);
    // Returns true if one of the words or operators is ahead. Nothing is taken.
    bool is_at(std::initializer_list<std::string_view> ends);
    bool take_reserved(std::string_view word);
    Result<void> expect(std::string_view word);
    // An assignment ahead; nothing is taken where there is none.
    Result<bool> is_assignment_ahead();
    // The place behind the ']' of the '[' at `place`; 0 if there is none. Sets `has_blank` if a blank or
    // an operator stands in the subscript, and else leaves it.
    std::size_t subscript_end(std::size_t place, bool& has_blank) const;
    Result<Assignment> assignment();

    std::string_view text_;
    ParseBudget& budget_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    std::size_t line_at_ = 0;  // `line_` is the line of this byte.
    std::vector<PendingHereDoc> here_docs_;
};

inline bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
inline bool is_name_char(char c) {
    return is_name_start(c) || is_digit(c);
}

inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}
inline bool is_bare_end(char c) {
    return c == '\0' || is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' ||
           c == ')' || c == '<' || c == '>';
}

}  // namespace quire::shell
