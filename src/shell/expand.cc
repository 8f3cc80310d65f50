// Words of an abstract run: braces, tildes, parameters, substitutions, splitting, and globs.
//
// A word is expanded to drafts, which are the ways in which it may come out: one for each combination
// of its parameters' values. In a draft a quoted byte that could be a wildcard has a backslash, until
// the files are matched. What has too many drafts, or drafts with unlike numbers of words, is not
// known.
//
//  word ── Braces ──> atoms of each word ── expand() ──> drafts ── matches() ──> words
//
// Atoms are bytes, or whole parts that are expanded later: bash makes braces before parameters.
// Unknown values spread: a word with one unknown part is not known. Cost: at most kMostValues drafts are
// kept for each of the words that braces make (braces.cc).
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "shell/parser_body.h"
#include "shell/pattern.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

constexpr std::size_t kMostArguments = 4096;  // Words of one command.
constexpr std::size_t kLongestPattern = 1024;

}  // namespace

// --- fields ------------------------------------------------------------------------------------

std::vector<Arg> Run::fields(const std::vector<Word>& words) {
    std::vector<Arg> out;
    for (const Word& word : words) {
        std::vector<Arg> more = fields(word);
        out.insert(out.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
        if (out.size() <= kMostArguments) continue;
        warn("too_complex", word.source, "the command has too many words");
        break;
    }
    // Long commands take more steps than short ones.
    steps_ += (words.size() + out.size()) / 64;
    return out;
}

// Returns the text of a word that stands for itself alone: literals, in which nothing is expanded unless it
// is quoted.
// Most words are plain. They need neither atoms nor drafts.
std::optional<std::string> Run::plain_text(const Word& word) {
    std::string out;
    for (const Part& part : word.parts) {
        const bool is_plain = part.kind == PartKind::literal &&
                              (part.quoted || part.text.find_first_of("{~*?[\\") == part.text.npos);
        if (!is_plain) return std::nullopt;
        out += part.text;
    }
    const bool is_word = !word.parts.empty() && out.find('\0') == out.npos;
    return is_word ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<Arg> Run::fields(const Word& word) {
    if (std::optional<std::string> plain = plain_text(word)) return {Value::of(std::move(*plain))};
    const Atoms atoms = atoms_of(word);
    Braces braces(atoms);
    std::vector<Arg> out;
    if (braces.is_complete) {
        for (const Atoms& each : braces.words(0, atoms.size())) expand(each, out);
    }
    if (!braces.is_complete) warn("too_complex", word.source, "the braces make too many words");
    return out;
}

// "$@" and "${a[@]}" are a word for each element, and so are $* and ${a[*]} without quotes.
std::optional<std::vector<Arg>> Run::list_of(const Part& part) {
    if (part.kind != PartKind::parameter) return std::nullopt;
    const auto is_all = [&](const std::string& name) {
        return name == "@" || (name == "*" && !part.quoted);
    };
    if (is_all(part.text) && part.operation.empty()) return state_->positional;
    if (part.operation != "[" || !is_all(part.words.front().source)) return std::nullopt;
    const auto array = state_->arrays.find(part.text);
    if (array == state_->arrays.end()) {
        // A variable that is not set has no element, and an empty one has one.
        Value only = variable(part.text);
        only.is_optional = std::find(only.texts.begin(), only.texts.end(), "") != only.texts.end();
        return std::vector<Arg>{std::move(only)};
    }
    if (array->second.are_exact) return array->second.all;
    return std::vector<Arg>{Value::many(cat("${", part.text, "[@]}"))};
}

// The elements as one text. Not known if their number is not.
Value Run::joined_by_blanks(const std::vector<Arg>& elements) {
    if (state_->splits_oddly) return Value::unknown("IFS is set");
    Value out = Value::of("");
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const Arg& each = elements[i];
        if (each.is_optional) return Value::unknown("how many words it is");
        out = joined(i == 0 ? out : joined(out, Value::of(" ")), each);
    }
    return out;
}

// An unset HOME is not followed: bash then takes the home of the user's account.
Value Run::home() {
    Value out = variable("HOME");
    const bool may_be_unset = std::find(out.texts.begin(), out.texts.end(), "") != out.texts.end();
    return may_be_unset ? Value::unknown("~") : out;
}

Value Run::value_of(const Part& part) {
    switch (part.kind) {
        case PartKind::parameter:
            return parameter(part);
        case PartKind::command:
            return output_of(*part.script);
        case PartKind::arithmetic:
            return arithmetic(part.words.front());
        case PartKind::process:
            // It runs in a shell of its own, so its variables are lost and its effects stay.
            run_apart(part.script->list);
            return Value::of("/dev/fd/63");
        case PartKind::literal:
            break;
    }
    return Value::of(part.text);
}

// A part that is not known makes the word unknown. Those behind it are expanded nevertheless, for what
// they run.
void Run::expand(const Atoms& atoms, std::vector<Arg>& out) {
    // A way in which the word may come out: words that are complete, and the one that grows.
    // `is_begun` tells an empty word, as "" makes one, from no word.
    struct Draft {
        std::vector<std::string> done;
        std::string now;
        bool is_begun = false;
    };
    std::vector<Draft> drafts(1);
    std::optional<Value> lost;       // Why the word is not known.
    bool may_split = false;          // A part may make several words, or none.
    bool has_odd_backslash = false;  // One in a value, before what may be a wildcard.
    const auto lose = [&](Value why) {
        if (!lost) lost = std::move(why);
    };
    const auto put = [&](char c, bool quoted) {
        for (Draft& draft : drafts) {
            draft.is_begun = true;
            if (quoted) {
                add_escaped(draft.now, c);
            } else {
                draft.now += c;
            }
        }
    };
    // Ends a word where a blank of an unquoted value splits it.
    const auto end_field = [](Draft& draft) {
        if (draft.is_begun) draft.done.push_back(std::exchange(draft.now, ""));
        draft.is_begun = false;
    };
    // Appends each of the texts to each draft.
    const auto insert = [&](const Value& value, bool splits) {
        if (!value.is_known()) return lose(value);
        if (splits && state_->splits_oddly) return lose(Value::unknown("IFS is set"));
        if (value.is_optional || value.texts.empty())
            return lose(Value::unknown("how many words it is"));
        if (drafts.size() * value.texts.size() > kMostValues)
            return lose(Value::unknown("it may have too many values"));
        std::vector<Draft> next;
        for (const Draft& draft : drafts) {
            for (const std::string& text : value.texts) {
                if (draft.now.size() + text.size() > kLongestText)
                    return lose(Value::unknown("it is too long"));
                Draft made = draft;
                for (const char c : text) {
                    if (!splits) {
                        add_escaped(made.now, c);
                    } else if (c == ' ' || c == '\t' || c == '\n') {
                        end_field(made);
                        continue;
                    } else {
                        // Wildcards in an unquoted value count as such. Its backslashes stand for
                        // themselves where there are none.
                        if (c == '\\') made.now += '\\';
                        has_odd_backslash = has_odd_backslash || c == '\\';
                        made.now += c;
                    }
                    made.is_begun = true;
                }
                made.is_begun = made.is_begun || !splits;
                next.push_back(std::move(made));
            }
        }
        drafts = std::move(next);
    };
    const auto is_bare = [&](std::size_t at, char c) {
        return at < atoms.size() && atoms[at].part == nullptr && !atoms[at].quoted &&
               atoms[at].byte == c;
    };
    // A word that looks like an assignment, such as of=~/x, has tildes behind its '=' and ':' too.
    std::size_t equals = 0;
    while (equals < atoms.size() && is_name_char(atoms[equals].byte) && !atoms[equals].quoted)
        ++equals;
    if (is_bare(equals, '+')) ++equals;
    const bool assigns = equals > 0 && is_name_start(atoms[0].byte) && is_bare(equals, '=');
    for (std::size_t i = 0; i < atoms.size(); ++i) {
        const Atom& atom = atoms[i];
        const bool is_behind_mark =
            assigns && i > equals && (i == equals + 1 || is_bare(i - 1, ':'));
        if (is_bare(i, '~') && (i == 0 || is_behind_mark)) {
            std::size_t end = i + 1;
            while (end < atoms.size() && atoms[end].part == nullptr && !atoms[end].quoted &&
                   atoms[end].byte != '/' && atoms[end].byte != ':')
                ++end;
            // A quote or an expansion in the prefix makes it plain text.
            if (end == atoms.size() || is_bare(end, '/') || is_bare(end, ':')) {
                const bool is_home = end == i + 1 && !(i > 0 && is_posix_);
                // The home is taken as if it were quoted: bash neither splits it nor looks for
                // wildcards in it.
                insert(is_home ? home() : Value::unknown("the home of a user"), false);
                i = end - 1;
                continue;
            }
        }
        if (atom.part == nullptr) {
            if (atom.byte != 0) {
                put(atom.byte, atom.quoted);
            } else {
                for (Draft& draft : drafts) draft.is_begun = true;
            }
            continue;
        }
        const bool splits = !atom.quoted && atom.part->kind != PartKind::process;
        may_split = may_split || splits;
        const auto list = list_of(*atom.part);
        if (!list) {
            insert(value_of(*atom.part), splits);
            continue;
        }
        may_split = true;
        // Alone in its word, each element may have its own values.
        const auto is_whole = [&](const Arg& each) {
            return !splits || std::all_of(each.texts.begin(), each.texts.end(), [](const auto& t) {
                return !t.empty() && t.find_first_of(" \t\n*?[\\") == std::string::npos;
            });
        };
        const bool is_alone = atoms.size() == 1 && !(splits && state_->splits_oddly) &&
                              std::all_of(list->begin(), list->end(), is_whole);
        if (is_alone) {
            for (const Arg& each : *list) {
                out.push_back(each);
                out.back().is_many = each.is_many || (splits && !each.is_known());
            }
            return;
        }
        for (std::size_t each = 0; each < list->size(); ++each) {
            if (each > 0) std::for_each(drafts.begin(), drafts.end(), end_field);
            insert((*list)[each], splits);
        }
    }
    if (lost) {
        lost->is_optional = false;
        lost->is_many = may_split;
        out.push_back(std::move(*lost));
        return;
    }
    for (Draft& draft : drafts) end_field(draft);
    const std::size_t count = drafts.front().done.size();
    const bool alike = std::all_of(drafts.begin(), drafts.end(),
                                   [&](const Draft& draft) { return draft.done.size() == count; });
    // A command with another number of operands may do another thing with each of them.
    if (!alike) {
        out.push_back(Value::many("how many words it is"));
        return;
    }
    for (std::size_t field = 0; field < count; ++field) {
        Arg arg;
        for (const Draft& draft : drafts) {
            const std::string& pattern = draft.done[field];
            if (!has_wildcard(pattern)) {
                const Value text = Value::of(unescaped(pattern));
                arg = arg.texts.empty() ? text : either(arg, text);
                continue;
            }
            if (state_->globs_oddly || has_odd_backslash || pattern.size() > kLongestPattern) {
                out.push_back(Value::many(state_->globs_oddly
                                              ? "options change what a pattern means"
                                          : has_odd_backslash ? "a backslash in a pattern"
                                                              : "the pattern is too long"));
                return;
            }
            const Matches found = matches(pattern);
            const std::size_t files = found.words.size() - (found.has_pattern ? 1 : 0);
            if (drafts.size() > 1) {
                if (files > 1) {
                    out.push_back(Value::many("how many words it is"));
                    return;
                }
                for (const std::string& each : found.words)
                    arg = arg.texts.empty() ? Value::of(each) : either(arg, Value::of(each));
                continue;
            }
            if (found.are_certain || found.words.size() == 1) {
                for (const std::string& each : found.words) out.push_back(Value::of(each));
                continue;
            }
            // Which of them there are is not certain, so each may be the first and the last.
            Value any = Value::of(found.words.front());
            for (const std::string& each : found.words) any = either(any, Value::of(each));
            if (!any.is_known()) {
                out.push_back(Value::many(any.why));
                continue;
            }
            for (std::size_t at = found.has_pattern ? 1 : 0; at < found.words.size(); ++at) {
                out.push_back(any);
                any.is_optional = true;
            }
        }
        if (!arg.texts.empty() || !arg.is_known()) out.push_back(std::move(arg));
    }
}

// The value of an assignment, an operand of ${…}, or a here-document: no splitting and no files.
Value Run::text(const Word& word) {
    Value out = Value::of("");
    bool is_first = true;
    for (const Part& part : word.parts) {
        if (part.kind == PartKind::literal) {
            std::string text = part.text;
            if (is_first && !part.quoted && text.starts_with('~')) {
                const std::size_t end = std::min(text.find_first_of("/:"), text.size());
                // A quote or an expansion in the prefix makes it plain text.
                if (end < text.size() || word.parts.size() == 1) {
                    out = joined(out, end == 1 ? home() : Value::unknown(text.substr(0, end)));
                    text.erase(0, end);
                }
            }
            const bool has_more = !part.quoted && text.find(":~") != std::string::npos;
            out = joined(out, has_more ? Value::unknown(text) : Value::of(std::move(text)));
        } else if (const auto list = list_of(part)) {
            out = joined(out, joined_by_blanks(*list));
        } else {
            out = joined(out, value_of(part));
        }
        is_first = false;
    }
    return out;
}

}  // namespace quire::shell
