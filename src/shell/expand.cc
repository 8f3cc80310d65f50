// Words of an abstract run: braces, tildes, parameters, substitutions, splitting, and globs.
//
// A word is expanded to drafts, which are the ways in which it may come out: one for each combination
// of its parameters' values. In a draft a quoted byte that could be a wildcard has a backslash, until
// the files are matched. What has too many drafts, or drafts with unlike numbers of words, is not
// known.
//
//  word ── braces() ──> atoms of each word ── expand() ──> drafts ── matches() ──> words
//
// Atoms are bytes, or whole parts that are expanded later: bash makes braces before parameters.
// Unknown values spread: a word with one unknown part is not known. Cost: at most kMostFields words
// come from the braces of a word, and at most kMostValues drafts are kept for each of them.
#include <algorithm>

#include "base/concat.h"
#include "shell/parser_body.h"
#include "shell/pattern.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

// The most words that the braces of one word make, and the most paths that one pattern fits.
constexpr std::size_t kMostFields = 1024;

}  // namespace

// --- braces ------------------------------------------------------------------------------------

Run::Atoms Run::atoms_of(const Word& word) {
    Atoms out;
    for (const Part& part : word.parts) {
        if (part.kind != PartKind::literal) {
            out.push_back({0, part.quoted, &part});
            continue;
        }
        // An empty quoted part makes a word too.
        if (part.text.empty()) out.push_back({0, true, nullptr});
        for (const char c : part.text) out.push_back({c, part.quoted, nullptr});
    }
    return out;
}

namespace {

// The texts of a sequence such as 1..5 or a..e..2; none if it is no sequence.
std::vector<std::string> sequence(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0;;) {
        const std::size_t dots = text.find("..", at);
        parts.push_back(text.substr(at, dots == std::string::npos ? dots : dots - at));
        if (dots == std::string::npos) break;
        at = dots + 2;
    }
    if (parts.size() < 2 || parts.size() > 3) return {};
    const auto number = [](const std::string& part) {
        std::string_view digits = part;
        if (digits.starts_with('-')) digits.remove_prefix(1);
        return !digits.empty() && digits.size() < 7 &&
               std::all_of(digits.begin(), digits.end(), is_digit);
    };
    const bool numbers = number(parts[0]) && number(parts[1]);
    const bool letters = parts[0].size() == 1 && parts[1].size() == 1 &&
                         is_name_start(parts[0][0]) && is_name_start(parts[1][0]);
    if ((!numbers && !letters) || (parts.size() == 3 && !number(parts[2]))) return {};
    const long first = numbers ? std::stol(parts[0]) : parts[0][0];
    const long last = numbers ? std::stol(parts[1]) : parts[1][0];
    long step = parts.size() == 3 ? std::labs(std::stol(parts[2])) : 1;
    if (step == 0) step = 1;
    std::vector<std::string> out;
    const std::size_t width = std::max(parts[0].size(), parts[1].size());
    // bash pads all numbers to the same width if one of the two begins with a zero.
    const bool padded = numbers && (parts[0].starts_with('0') || parts[1].starts_with('0'));
    for (long at = first; first <= last ? at <= last : at >= last;
         at += first <= last ? step : -step) {
        std::string each = numbers ? cat(at) : std::string(1, static_cast<char>(at));
        if (padded && each.size() < width) each.insert(0, width - each.size(), '0');
        out.push_back(std::move(each));
        if (out.size() > kMostFields) return out;
    }
    return out;
}

}  // namespace

// Expands the first pair that is a list or a sequence, and by recursion what stands in it and
// behind it. A pair that is neither stays as it is written. `budget` is the number of words that
// may still be made; 0 afterwards says that the result is not complete.
std::vector<Run::Atoms> Run::braces(const Atoms& atoms, std::size_t& budget) {
    const auto is_bare = [&](std::size_t i, char c) {
        return atoms[i].part == nullptr && !atoms[i].quoted && atoms[i].byte == c;
    };
    for (std::size_t open = 0; open < atoms.size(); ++open) {
        if (!is_bare(open, '{')) continue;
        std::vector<std::size_t> cuts{open};
        int depth = 0;
        std::size_t close = 0;
        for (std::size_t i = open + 1; i < atoms.size() && close == 0; ++i) {
            if (is_bare(i, '{')) ++depth;
            if (is_bare(i, ',') && depth == 0) cuts.push_back(i);
            if (is_bare(i, '}') && depth-- == 0) close = i;
        }
        if (close == 0) continue;
        std::vector<Atoms> middles;
        cuts.push_back(close);
        if (cuts.size() > 2) {
            for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
                const Atoms piece(atoms.begin() + static_cast<std::ptrdiff_t>(cuts[i]) + 1,
                                  atoms.begin() + static_cast<std::ptrdiff_t>(cuts[i + 1]));
                for (Atoms& each : braces(piece, budget)) middles.push_back(std::move(each));
            }
        } else {
            std::string inner;
            bool plain = true;
            for (std::size_t i = open + 1; i < close; ++i) {
                plain = plain && atoms[i].part == nullptr && !atoms[i].quoted;
                inner += atoms[i].byte;
            }
            if (plain) {
                for (const std::string& each : sequence(inner)) {
                    Atoms made;
                    for (const char c : each) made.push_back({c, false, nullptr});
                    middles.push_back(std::move(made));
                }
            }
            if (middles.empty()) continue;
        }
        const Atoms head(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(open));
        const Atoms tail(atoms.begin() + static_cast<std::ptrdiff_t>(close) + 1, atoms.end());
        std::vector<Atoms> out;
        const std::vector<Atoms> tails = braces(tail, budget);
        for (const Atoms& middle : middles) {
            for (const Atoms& end : tails) {
                if (budget == 0) return out;
                --budget;
                Atoms all = head;
                all.insert(all.end(), middle.begin(), middle.end());
                all.insert(all.end(), end.begin(), end.end());
                out.push_back(std::move(all));
            }
        }
        return out;
    }
    return {atoms};
}

// --- fields ------------------------------------------------------------------------------------

std::vector<Arg> Run::fields(const std::vector<Word>& words) {
    std::vector<Arg> out;
    for (const Word& word : words) {
        std::vector<Arg> more = fields(word);
        out.insert(out.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    }
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
    std::size_t budget = kMostFields;
    std::vector<Arg> out;
    for (const Atoms& atoms : braces(atoms_of(word), budget)) expand(atoms, out);
    if (budget == 0) warn("too_complex", word.source, "the braces make too many words");
    return out;
}

// "$@" and "${a[@]}" are a word for each element.
std::optional<std::vector<Arg>> Run::list_of(const Part& part) {
    if (part.kind != PartKind::parameter) return std::nullopt;
    if (part.text == "@" && part.operation.empty()) return state_->positional;
    const bool is_all = part.operation == "[" && part.words.front().source == "@";
    if (!is_all) return std::nullopt;
    const auto array = state_->arrays.find(part.text);
    if (array != state_->arrays.end()) return array->second;
    return std::vector<Arg>{variable(part.text)};
}

Value Run::value_of(const Part& part) {
    switch (part.kind) {
        case PartKind::parameter:
            return parameter(part);
        case PartKind::command:
            return output_of(*part.script);
        case PartKind::arithmetic:
            return arithmetic(part.words.front());
        case PartKind::process: {
            // It runs in a shell of its own, so its variables are lost and its effects stay.
            State outer = *state_;
            State* const before = state_;
            eval(part.script->list, outer);
            state_ = before;
            return Value::of("/dev/fd/63");
        }
        case PartKind::literal:
            break;
    }
    return Value::of(part.text);
}

void Run::expand(const Atoms& atoms, std::vector<Arg>& out) {
    // A way in which the word may come out: words that are complete, and the one that grows.
    // `is_begun` tells an empty word, as "" makes one, from no word.
    struct Draft {
        std::vector<std::string> done;
        std::string now;
        bool is_begun = false;
    };
    std::vector<Draft> drafts(1);
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
    std::size_t i = 0;
    if (!atoms.empty() && atoms[0].part == nullptr && !atoms[0].quoted && atoms[0].byte == '~') {
        std::string prefix;
        for (i = 1; i < atoms.size() && atoms[i].part == nullptr && !atoms[i].quoted &&
                    atoms[i].byte != '/';)
            prefix += atoms[i++].byte;
        const Value home = prefix.empty() ? variable("HOME") : Value::unknown(cat("~", prefix));
        if (!home.is_known()) {
            out.push_back(home);
            return;
        }
        // The home is taken as if it were quoted: bash neither splits it nor looks for wildcards in
        // it.
        for (const char c : home.texts.front()) put(c, true);
    }
    for (; i < atoms.size(); ++i) {
        const Atom& atom = atoms[i];
        if (atom.part == nullptr) {
            if (atom.byte != 0) {
                put(atom.byte, atom.quoted);
            } else {
                for (Draft& draft : drafts) draft.is_begun = true;
            }
            continue;
        }
        if (const auto list = list_of(*atom.part)) {
            for (std::size_t each = 0; each < list->size(); ++each) {
                const std::string* const single = (*list)[each].single();
                if (single == nullptr) {
                    if (atoms.size() == 1) {
                        // Alone in its word, each element may have its own values.
                        out.insert(out.end(), list->begin(), list->end());
                        return;
                    }
                    out.push_back(Value::unknown(cat("$", atom.part->text)));
                    return;
                }
                for (Draft& draft : drafts) {
                    if (each > 0) end_field(draft);
                    draft.now += escaped(*single);
                    draft.is_begun = true;
                }
            }
            continue;
        }
        const Value value = value_of(*atom.part);
        if (!value.is_known()) {
            out.push_back(value);
            return;
        }
        const bool splits = !atom.quoted && atom.part->kind != PartKind::process;
        const bool is_odd = splits && state_->splits_oddly;
        if (is_odd || drafts.size() * value.texts.size() > kMostValues) {
            out.push_back(Value::unknown(is_odd ? "IFS is set" : "it may have too many values"));
            return;
        }
        std::vector<Draft> next;
        for (const Draft& draft : drafts) {
            for (const std::string& text : value.texts) {
                Draft made = draft;
                for (const char c : text) {
                    if (splits && (c == ' ' || c == '\t' || c == '\n')) {
                        end_field(made);
                    } else {
                        made.is_begun = true;
                        if (splits) {
                            // Wildcards in an unquoted value count as such. Its backslashes stand
                            // for themselves.
                            if (c == '\\') made.now += '\\';
                            made.now += c;
                        } else {
                            add_escaped(made.now, c);
                        }
                    }
                }
                made.is_begun = made.is_begun || atom.quoted;
                next.push_back(std::move(made));
            }
        }
        drafts = std::move(next);
    }
    for (Draft& draft : drafts) end_field(draft);
    const std::size_t count = drafts.front().done.size();
    const bool alike = std::all_of(drafts.begin(), drafts.end(),
                                   [&](const Draft& draft) { return draft.done.size() == count; });
    // A command with another number of operands may do another thing with each of them.
    if (!alike) {
        out.push_back(Value::unknown("how many words it is"));
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
            if (state_->globs_oddly) {
                out.push_back(Value::unknown("options change what a pattern means"));
                return;
            }
            const Matches found = matches(pattern);
            if (drafts.size() > 1) {
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
            if (is_first && !part.quoted && (text == "~" || text.starts_with("~/"))) {
                out = joined(out, variable("HOME"));
                text.erase(0, 1);
            } else if (is_first && !part.quoted && text.starts_with("~")) {
                return Value::unknown(text);
            }
            out = joined(out, Value::of(std::move(text)));
        } else if (const auto list = list_of(part)) {
            for (std::size_t i = 0; i < list->size(); ++i)
                out = joined(i == 0 ? out : joined(out, Value::of(" ")), (*list)[i]);
        } else {
            out = joined(out, value_of(part));
        }
        is_first = false;
    }
    return out;
}

// The pattern itself is a word where no path fits.
// Goes through the pattern component by component, in each working directory that there may be.
// What is deleted or hidden by an earlier command makes the result uncertain, because the tree
// shows the files as they were before the script; names that the script has made are found like
// others.
Run::Matches Run::matches(const std::string& pattern) {
    Matches result;
    std::vector<std::string>& out = result.words;
    const bool is_absolute = pattern.starts_with('/');
    const std::vector<std::string> bases =
        is_absolute ? std::vector<std::string>{"/"} : state_->cwds;
    for (const std::string& base : bases) {
        std::vector<std::string> found{is_absolute ? "/" : ""};
        for (std::size_t at = is_absolute ? 1 : 0; at < pattern.size();) {
            const std::size_t slash = std::min(pattern.find('/', at), pattern.size());
            const std::string piece = pattern.substr(at, slash - at);
            const std::string join = slash < pattern.size() ? "/" : "";
            at = slash + 1;
            std::vector<std::string> next;
            for (const std::string& prefix : found) {
                if (!has_wildcard(piece)) {
                    next.push_back(cat(prefix, unescaped(piece), join));
                    continue;
                }
                std::vector<std::string> directories;
                resolved_ = 0;
                resolve(prefix.starts_with('/') ? prefix : cat(base, "/", prefix),
                        LastLink::followed, 0, directories);
                for (const std::string& directory : directories) {
                    for (const std::string& name : names_in(directory)) {
                        // A wildcard at the beginning takes no dot. The names "." and ".." are
                        // never in the list.
                        if (name.starts_with('.') != piece.starts_with('.')) continue;
                        if (fits(piece, name)) next.push_back(cat(prefix, name, join));
                    }
                }
            }
            found = std::move(next);
            if (found.size() > kMostFields) {
                warn("too_complex", unescaped(pattern), "it fits too many files");
                return result;
            }
        }
        const auto is_there = [&](const std::string& each) {
            const std::string path = each.starts_with('/') ? each : cat(base, "/", each);
            return look(path).kind != TreeView::Kind::none;
        };
        // Only where a file is there for certain, bash cannot fall back to the pattern itself.
        const bool is_exact = !has_replaced_ && has_plain_sets(pattern);
        const bool is_certain = is_exact && std::any_of(found.begin(), found.end(), is_there);
        result.are_certain = result.are_certain && is_certain && bases.size() == 1 &&
                             std::all_of(found.begin(), found.end(), is_there);
        if (!is_certain) {
            out.push_back(unescaped(pattern));
            result.has_pattern = true;
        }
        const bool was_wild_at_end = has_wildcard(last_component(pattern));
        for (std::string& each : found) {
            const Arg made = Value::of(each);
            if (was_wild_at_end || may_exist(made) || !paths_of(made, LastLink::itself).empty())
                out.push_back(std::move(each));
        }
    }
    if (out.empty()) out.push_back(unescaped(pattern));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return result;
}

}  // namespace quire::shell
