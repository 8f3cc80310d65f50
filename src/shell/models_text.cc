// Models of the commands that read files and print: most only read their operands, and a few have an
// operand or an option that names an output.
// An option that is not in a command's list is a warning, because it could name an output.
#include <algorithm>

#include "base/concat.h"
#include "shell/models.h"
#include "shell/parser_body.h"

namespace quire::shell {

namespace {

// A command that reads its operands, without the first `skipped` of them.
struct Reader {
    std::string_view name;
    std::string_view letters;
    std::string_view names = "";
    std::size_t skipped = 0;
};

constexpr Reader kReaders[] = {
    {"cat", "AbeEnstTuv", "number:n show-all:A show-ends:E show-tabs:T squeeze-blank:s"},
    {"tac", "brs:", "before regex separator=:s"},
    {"head", "c:n:qvz0123456789", "bytes=:c lines=:n quiet:q silent:q verbose:v"},
    {"tail", "c:fFn:qs:vz0123456789",
     "bytes=:c follow?:f lines=:n pid= quiet:q retry sleep-interval=:s verbose:v"},
    {"wc", "clLmw", "bytes:c chars:m lines:l words:w max-line-length:L total="},
    {"nl", "b:d:f:h:i:l:n:ps:v:w:"},
    {"rev", ""},
    {"cut", "b:c:d:f:ns:z",
     "bytes=:b characters=:c complement delimiter=:d fields=:f "
     "only-delimited:s output-delimiter="},
    {"paste", "d:sz", "delimiters=:d serial:s"},
    {"join", "1:2:a:e:ij:o:t:v:z", "check-order nocheck-order header ignore-case:i"},
    {"comm", "123z", "check-order nocheck-order output-delimiter= total"},
    {"fold", "bsw:", "bytes spaces width="},
    {"fmt", "cg:p:stuw:", "width="},
    {"expand", "it:", "initial tabs="},
    {"unexpand", "at:", "all first-only tabs="},
    {"od", "A:bcdfhij:lN:oS:st:vw::x", "address-radix= format= read-bytes= skip-bytes= width?"},
    {"hexdump", "bcCde:f:n:os:vx", "canonical"},
    {"strings", "ade:fn:ot:w", "all bytes="},
    {"md5sum", "bctwz", "binary check quiet status strict tag text warn zero"},
    {"sha1sum", "bctwz", "binary check quiet status strict tag text warn zero"},
    {"sha256sum", "bctwz", "binary check quiet status strict tag text warn zero"},
    {"sha512sum", "bctwz", "binary check quiet status strict tag text warn zero"},
    {"cksum", "a:", "algorithm= length="},
    {"sum", "rs"},
    {"cmp", "bi:ln:sv", "bytes= ignore-initial= print-bytes quiet silent verbose"},
    {"diff", "abBC:cdEeFiI:nNpqrsS:tTuU:wWx:yZ",
     "brief color? context? exclude= ignore-all-space ignore-blank-lines ignore-case label= "
     "new-file recursive report-identical-files side-by-side strip-trailing-cr text unified? "
     "width= suppress-common-lines"},
    {"stat", "c:fLt", "dereference file-system format= printf= terse"},
    {"ls", "1aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ",
     "all almost-all author block-size= classify? color? directory dereference "
     "full-time group-directories-first human-readable hide= ignore= inode indicator-style= "
     "literal no-group numeric-uid-gid recursive reverse size sort= time= time-style="},
    {"du", "0aB:bcd:DhHklLmPsS:t:X:x",
     "all apparent-size bytes block-size= exclude= human-readable max-depth= one-file-system "
     "summarize time? total"},
    {"df", "aB:hHiklPTt:x:", "all human-readable inodes local output? total type="},
    {"readlink", "efmnqsvz", "canonicalize canonicalize-existing canonicalize-missing"},
    {"realpath", "eLmPqsz", "relative-base= relative-to= strip no-symlinks quiet"},
    {"base64", "diw:", "decode ignore-garbage wrap="},
    {"base32", "diw:", "decode ignore-garbage wrap="},
    {"column", "c:dehJl:mn:N:o:O:r:R:s:tT:xW:", "table separator= output-separator= json"},
    {"zcat", "fv"},
    {"bzcat", "s"},
    {"xzcat", "qv"},
    {"tsort", ""},
    {"numfmt", "d:z", "field= format= from= to= grouping header? invalid= padding= round= suffix="},
    {"getfacl", "aceEsRLPtpn"},
    {"lsattr", "RVadlpv"},
    {"tree", "adfL:pushDFiqNQrtxcUI:P:", "dirsfirst noreport prune"},
    {"more", "dflcpsun:"},
    {"look", "bdft:"},
    {"xmllint", "", "noout format valid"},
};

void read_operands(const Call& call, const Reader& reader) {
    Options options;
    if (!read_options(call, reader.letters, reader.names, options)) return;
    for (std::size_t i = reader.skipped; i < options.operands.size(); ++i) {
        const std::string* const text = options.operands[i].single();
        if (text != nullptr && *text == "-") continue;
        if (call.run.may_be_directory(options.operands[i])) {
            call.run.effect_below(Effect::read, options.operands[i]);
        } else {
            call.run.effect(Effect::read, options.operands[i]);
        }
    }
    if (options.operands.empty() && (call.name == "ls" || call.name == "tree" || call.name == "du"))
        call.run.effect_below(Effect::read, Value::of("."));
}

void reader_model(const Call& call) {
    for (const Reader& reader : kReaders) {
        if (reader.name == call.name) return read_operands(call, reader);
    }
}

void grep_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "aA:bB:cC:d:D:e:Ef:FGhHiIlLm:noPqrRsTuUvVwxyzZ0123456789",
            "after-context=:A before-context=:B binary-files= byte-offset:b color? colour? "
            "context?:C "
            "count:c dereference-recursive:R exclude= exclude-dir= exclude-from= extended-regexp:E "
            "file=:f files-with-matches:l files-without-match:L fixed-strings:F ignore-case:i "
            "include= initial-tab:T invert-match:v line-buffered line-number:n line-regexp:x "
            "max-count=:m no-filename:h no-ignore-case no-messages:s null:Z null-data:z "
            "only-matching:o perl-regexp:P quiet:q recursive:r regexp=:e silent:q text:a version:V "
            "with-filename:H word-regexp:w",
            options))
        return;
    if (const Arg* const patterns = options.value("f")) call.run.effect(Effect::read, *patterns);
    const bool has_pattern = options.has("e") || options.has("f");
    const std::size_t first = has_pattern ? 0 : 1;
    const bool is_deep = options.has("r") || options.has("R");
    for (std::size_t i = first; i < options.operands.size(); ++i) {
        if (is_deep) {
            call.run.effect_below(Effect::read, options.operands[i]);
        } else {
            call.run.effect(Effect::read, options.operands[i]);
        }
    }
    if (is_deep && options.operands.size() <= first)
        call.run.effect_below(Effect::read, Value::of("."));
}

void rg_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "aA:bB:cC:e:E:f:FgHg:hiIlLm:nNoPqr:sStT:uUvVwxzM:j:0.",
            "context= count files files-with-matches fixed-strings glob= hidden heading "
            "iglob= ignore-case json line-number no-heading no-ignore only-matching "
            "multiline quiet smart-case sort= stats type= type-not= word-regexp max-count= "
            "color= no-filename with-filename",
            options))
        return;
    const std::size_t first = options.has("e") || options.has("f") || options.has("files") ? 0 : 1;
    for (std::size_t i = first; i < options.operands.size(); ++i)
        call.run.effect_below(Effect::read, options.operands[i]);
    if (options.operands.size() <= first) call.run.effect_below(Effect::read, Value::of("."));
}

void sort_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "bcCdfghik:mMno:rRsS:t:T:uVz",
            "batch-size= buffer-size=:S check?:c debug dictionary-order:d field-separator=:t "
            "files0-from= general-numeric-sort:g human-numeric-sort:h ignore-case:f "
            "ignore-leading-blanks:b ignore-nonprinting:i key=:k merge:m month-sort:M "
            "numeric-sort:n output=:o parallel= random-sort:R random-source= reverse:r "
            "stable:s sort= temporary-directory=:T unique:u version-sort:V "
            "zero-terminated:z",
            options))
        return;
    for (const Arg& each : options.operands) call.run.effect(Effect::read, each);
    if (const Arg* const output = options.value("o")) call.run.write(*output);
}

// uniq and iconv have an output as an operand or an option.
void uniq_model(const Call& call) {
    Options options;
    if (!read_options(call, "cdDf:is:uw:z0123456789",
                      "all-repeated? check-chars= count group? ignore-case repeated skip-chars= "
                      "skip-fields= unique zero-terminated",
                      options))
        return;
    if (!options.operands.empty()) call.run.effect(Effect::read, options.operands[0]);
    // The second operand is the output; it may be a later one where some before it may not be there.
    std::size_t missing = 0;
    for (std::size_t at = 0; at < options.operands.size(); ++at) {
        if (at > 0 && missing + 1 >= at) call.run.write(options.operands[at]);
        missing += options.operands[at].is_optional ? 1 : 0;
    }
}

void shuf_model(const Call& call) {
    Options options;
    if (!read_options(call, "ei:n:o:rz",
                      "echo:e head-count=:n input-range=:i output=:o random-source= repeat:r",
                      options))
        return;
    if (!options.has("e")) {
        for (const Arg& each : options.operands) call.run.effect(Effect::read, each);
    }
    if (const Arg* const output = options.value("o")) call.run.write(*output);
}

void split_model(const Call& call) {
    Options options;
    if (!read_options(call, "a:b:C:del:n:t:ux",
                      "additional-suffix= bytes=:b hex-suffixes? line-bytes=:C lines=:l number=:n "
                      "numeric-suffixes? separator=:t suffix-length=:a verbose",
                      options))
        return;
    if (!options.operands.empty()) call.run.effect(Effect::read, options.operands[0]);
    const Arg prefix = options.operands.size() > 1 ? options.operands[1] : Value::of("x");
    const Arg made = with_suffix(prefix, std::string(1, kSomeName));
    call.run.effect(Effect::create, made);
    call.run.effect(Effect::write, made);
}

void jq_model(const Call& call) {
    Options options;
    if (!read_options(
            call, "acCMnerRsSf:jL:",
            "arg= args compact-output exit-status join-output null-input raw-output slurp "
            "sort-keys tab indent=",
            options))
        return;
    if (options.has("arg")) return call.unpredictable("which of its words are files is not known");
    for (std::size_t i = options.has("f") ? 0 : 1; i < options.operands.size(); ++i)
        call.run.effect(Effect::read, options.operands[i]);
}

// --- sed ---------------------------------------------------------------------------------------

// Reads a sed script as far as files and commands go.
class SedScript {
public:
    SedScript(const Call& call, std::string_view text) : call_(call), text_(text) {}

    // Returns false for a script that is not understood.
    bool read() {
        while (at_ < text_.size()) {
            if (std::string_view(" \t\n;{}").find(peek()) != std::string_view::npos) {
                ++at_;
                continue;
            }
            if (peek() == '#') {
                at_ = line_end();
                continue;
            }
            if (!addresses() || !command()) return false;
        }
        return true;
    }

private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    std::size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }
    void skip_blanks() {
        while (peek() == ' ' || peek() == '\t') ++at_;
    }

    // The text up to an unescaped `delimiter`, which is taken too.
    bool until(char delimiter, bool has_sets) {
        bool in_set = false;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '\\') {
                ++at_;
            } else if (has_sets && c == '[' && !in_set) {
                in_set = true;
                if (at_ + 1 < text_.size() && text_[at_ + 1] == '^') ++at_;
                if (at_ + 1 < text_.size() && text_[at_ + 1] == ']') ++at_;
            } else if (c == ']') {
                in_set = false;
            } else if (c == delimiter && !in_set) {
                ++at_;
                return true;
            } else if (c == '\n' && !has_sets) {
                return false;
            }
        }
        return false;
    }

    bool address() {
        if (is_digit(peek()) || peek() == '$') {
            while (is_digit(peek()) || peek() == '$' || peek() == '~') ++at_;
            return true;
        }
        if (peek() == '+' || peek() == '~') {
            ++at_;
            while (is_digit(peek())) ++at_;
            return true;
        }
        if (peek() != '/' && peek() != '\\') return true;
        if (peek() == '\\') ++at_;
        const char delimiter = peek();
        ++at_;
        if (!until(delimiter, true)) return false;
        while (peek() == 'I' || peek() == 'M') ++at_;
        return true;
    }

    bool addresses() {
        if (!address()) return false;
        skip_blanks();
        if (peek() == ',') {
            ++at_;
            skip_blanks();
            if (!address()) return false;
        }
        skip_blanks();
        while (peek() == '!' || peek() == ' ') ++at_;
        return true;
    }

    Arg file_name() {
        skip_blanks();
        const std::size_t end = line_end();
        const Arg name = Value::of(std::string(text_.substr(at_, end - at_)));
        at_ = end;
        return name;
    }

    bool command() {
        const char c = peek();
        ++at_;
        switch (c) {
            case 's':
                return substitution();
            case 'y': {
                const char delimiter = peek();
                ++at_;
                return until(delimiter, false) && until(delimiter, false);
            }
            case 'w':
            case 'W':
                call_.run.write(file_name());
                return true;
            case 'r':
            case 'R':
                call_.run.effect(Effect::read, file_name());
                return true;
            case 'a':
            case 'i':
            case 'c':
                while (at_ < text_.size() && text_[line_end() - 1] == '\\' &&
                       line_end() < text_.size())
                    at_ = line_end() + 1;
                at_ = line_end();
                return true;
            case ':':
            case 'b':
            case 't':
            case 'T':
                at_ = std::min(text_.find_first_of(c == ':' ? "\n" : ";\n}", at_), text_.size());
                return true;
            case 'q':
            case 'Q':
            case 'l':
            case 'L':
                skip_blanks();
                while (is_digit(peek())) ++at_;
                return true;
            case 'e':
                call_.unpredictable("the script runs a command");
                at_ = line_end();
                return true;
            case '{':
            case '}':
                return true;
            default:
                return std::string_view("pPdDgGhHnNxz=F").find(c) != std::string_view::npos &&
                       c != '\0';
        }
    }

    bool substitution() {
        const char delimiter = peek();
        ++at_;
        if (delimiter == '\0' || delimiter == '\n' || delimiter == '\\') return false;
        // The replacement may have escaped newlines, and no sets.
        if (!until(delimiter, true)) return false;
        for (; at_ < text_.size() && text_[at_] != delimiter; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        if (at_ >= text_.size()) return false;
        ++at_;
        for (;; ++at_) {
            const char c = peek();
            if (c == 'e') call_.unpredictable("the script runs a command");
            if (c == 'w') {
                ++at_;
                call_.run.write(file_name());
                return true;
            }
            if (c == '\0' ||
                std::string_view("egpiImM0123456789").find(c) == std::string_view::npos)
                return c == '\0' || std::string_view(" \t\n;}#").find(c) != std::string_view::npos;
        }
    }

    const Call& call_;
    std::string_view text_;
    std::size_t at_ = 0;
};

void sed_model(const Call& call) {
    Options options;
    if (!read_options(call, "e:Ef:i::l:nrsuz",
                      "debug expression=:e file=:f follow-symlinks:L in-place?:i line-length=:l "
                      "null-data:z posix quiet:n regexp-extended:E sandbox separate:s silent:n "
                      "unbuffered:u",
                      options))
        return;
    std::vector<Arg> files = options.operands;
    std::string script;
    bool is_known = !options.has("f");
    if (const Arg* const file = options.value("f")) call.run.effect(Effect::read, *file);
    if (options.has("e")) {
        const auto [first, last] = options.given.equal_range("e");
        for (auto at = first; at != last; ++at) {
            const std::string* const text = at->second ? at->second->single() : nullptr;
            is_known = is_known && text != nullptr;
            if (text != nullptr) cat_to(script, cat(*text, "\n"));
        }
    } else if (is_known && !files.empty()) {
        const std::string* const text = files.front().single();
        is_known = text != nullptr;
        if (text != nullptr) script = *text;
        files.erase(files.begin());
    }
    if (!is_known || script.find(kSomeName) != std::string::npos || !SedScript(call, script).read())
        call.unpredictable("what its script does is not known");
    for (const Arg& file : files) {
        call.run.effect(Effect::read, file);
        if (!options.has("i")) continue;
        call.run.write(file, options.has("L") ? LastLink::followed : LastLink::itself);
        const Arg* const suffix = options.value("i");
        if (suffix == nullptr) continue;
        for (const std::string& text : suffix->texts) {
            if (text.find('*') == std::string::npos) {
                call.run.write(with_suffix(file, text), LastLink::itself);
                continue;
            }
            // A '*' stands for the file's name, and a '/' leads elsewhere.
            for (const std::string& name : file.texts) {
                std::string made;
                for (const char c : text)
                    made += c == '*' ? last_component(name) : std::string(1, c);
                const bool leads = made.find('/') != std::string::npos;
                const std::string parent = parent_of(name);
                call.run.write(Value::of(leads || parent.empty() ? made : cat(parent, "/", made)),
                               LastLink::itself);
            }
        }
    }
}

// A program without these marks can neither write a file nor run a command: awk redirects with >
// and |.
void awk_model(const Call& call) {
    Options options;
    if (!read_options(call, "F:v:f:", "field-separator=:F assign=:v", options)) return;
    if (options.has("f") || options.operands.empty())
        return call.unpredictable("what its program does is not known");
    const std::string* const program = options.operands.front().single();
    const bool is_plain = program != nullptr &&
                          program->find_first_of(">|@") == std::string::npos &&
                          program->find("system") == std::string::npos &&
                          program->find("getline") == std::string::npos;
    if (!is_plain) call.unpredictable("its program may write files or run commands");
    for (std::size_t i = 1; i < options.operands.size(); ++i) {
        const std::string* const text = options.operands[i].single();
        if (text != nullptr && text->find('=') != std::string::npos) continue;
        call.run.effect(Effect::read, options.operands[i]);
    }
}

// tr reads and writes streams alone; only an unknown option is of interest.
void tr_model(const Call& call) {
    Options options;
    read_options(call, "cCdst", "complement delete squeeze-repeats truncate-set1", options);
}

}  // namespace

Model text_model(std::string_view name) {
    struct Row {
        std::string_view name;
        Model model;
    };
    constexpr Row kRows[] = {{"grep", grep_model}, {"fgrep", grep_model},  {"egrep", grep_model},
                             {"rg", rg_model},     {"sort", sort_model},   {"uniq", uniq_model},
                             {"shuf", shuf_model}, {"split", split_model}, {"jq", jq_model},
                             {"sed", sed_model},   {"awk", awk_model},     {"gawk", awk_model},
                             {"mawk", awk_model},  {"tr", tr_model}};
    for (const Row& row : kRows) {
        if (row.name == name) return row.model;
    }
    const bool reads = std::any_of(std::begin(kReaders), std::end(kReaders),
                                   [&](const Reader& reader) { return reader.name == name; });
    return reads ? reader_model : nullptr;
}

}  // namespace quire::shell
