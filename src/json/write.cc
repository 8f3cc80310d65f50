// Writing is one walk over the value that appends to a string, O(output). Floats are written in the
// shortest form that reads back as the same number, with a fraction or an exponent, so that they
// stay floats.
//
// The walk recurses once for each level of the value. Values that came through parse() are no
// deeper than its limit; values that are built here are as deep as their code.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "json/json.h"

namespace quire::json {
namespace {

// RFC 8259 asks for an escape of these bytes only. Everything above ASCII is written as it is, in
// UTF-8; '/' needs no escape either.
constexpr bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

// How many bytes of `text` from `at` on are sure to need no escape, eight at a time: the lowest bit
// that a subtraction borrows into a byte's high bit tells the first that may. A borrow may also
// mark a byte above the first one that is found; that ends the run too early and never too late,
// and the caller looks at the rest byte by byte. Bytes from 0x80 on are never marked.
std::size_t plain_words(std::string_view text, std::size_t at) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHighs = 0x8080808080808080;
    const auto has_zero = [](std::uint64_t word) { return (word - kOnes) & ~word; };
    const std::size_t from = at;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        const std::uint64_t control = (word - kOnes * 0x20) & ~word;
        const std::uint64_t quote = has_zero(word ^ (kOnes * '"'));
        const std::uint64_t slash = has_zero(word ^ (kOnes * '\\'));
        if (((control | quote | slash) & kHighs) != 0) break;
    }
    return at - from;
}

// Runs of plain characters are appended as a whole; most texts are one run.
void write_escaped(std::string& out, std::string_view text) {
    out.push_back('"');
    std::size_t plain = 0;  // The beginning of the present run of characters that need no escape.
    for (std::size_t i = 0; i < text.size(); ++i) {
        i += plain_words(text, i);
        while (i < text.size() && is_plain(static_cast<unsigned char>(text[i]))) ++i;
        if (i == text.size()) break;
        const auto byte = static_cast<unsigned char>(text[i]);
        out.append(text, plain, i - plain);
        plain = i + 1;
        out.push_back('\\');
        switch (byte) {
            case '"':
            case '\\':
                out.push_back(static_cast<char>(byte));
                break;
            case '\b':
                out.push_back('b');
                break;
            case '\f':
                out.push_back('f');
                break;
            case '\n':
                out.push_back('n');
                break;
            case '\r':
                out.push_back('r');
                break;
            case '\t':
                out.push_back('t');
                break;
            default:
                out.append("u00");
                append_hex(out, byte);
        }
    }
    out.append(text, plain);
    out.push_back('"');
}

// Values may hold any bytes, and JSON may not: bad ones become U+FFFD. The copy is made for such
// texts only.
void write_string(std::string& out, std::string_view text) {
    if (utf8::is_valid(text)) {
        write_escaped(out, text);
    } else {
        write_escaped(out, utf8::repaired(text));
    }
}

// JSON has no words for NaN and the infinities. Null is what JavaScript writes for them.
void write_float(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out.append("null");
        return;
    }
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const std::string_view spelled(digits, static_cast<std::size_t>(end - digits));
    out.append(spelled);
    if (spelled.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

class Writer {
public:
    Writer(std::string& out, bool pretty) : out_(out), pretty_(pretty) {}

    void write(const Value& value) {
        if (value.is_null()) {
            out_.append("null");
        } else if (value.is_bool()) {
            out_.append(value.as_bool() ? "true" : "false");
        } else if (value.is_int()) {
            cat_to(out_, value.as_int());
        } else if (value.is_float()) {
            write_float(out_, value.as_float());
        } else if (value.is_string()) {
            write_string(out_, value.as_string());
        } else if (value.is_bytes()) {
            const Bytes& bytes = value.as_bytes();
            const std::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            out_.append(cat(R"({"$bytes":)", pretty_ ? " " : "", "\"", base64(raw), "\"}"));
        } else if (value.is_list()) {
            write_list(value.as_list());
        } else {
            write_map(value.as_map());
        }
    }

private:
    void write_list(const List& list) {
        out_.push_back('[');
        ++depth_;
        bool first = true;
        for (const Value& item : list) {
            separate(first);
            write(item);
        }
        close(first, ']');
    }

    void write_map(const Map& map) {
        out_.push_back('{');
        ++depth_;
        bool first = true;
        for (const Map::Entry& entry : map) {
            separate(first);
            write_string(out_, entry.key);
            out_.append(pretty_ ? ": " : ":");
            write(entry.value);
        }
        close(first, '}');
    }

    void separate(bool& first) {
        if (!first) out_.push_back(',');
        first = false;
        new_line();
    }

    void close(bool empty, char bracket) {
        --depth_;
        if (!empty) new_line();
        out_.push_back(bracket);
    }

    void new_line() {
        if (!pretty_) return;
        out_.push_back('\n');
        out_.append(depth_ * 2, ' ');
    }

    std::string& out_;
    bool pretty_;
    std::size_t depth_ = 0;
};

std::string written(const Value& value, bool pretty) {
    std::string out;
    Writer(out, pretty).write(value);
    return out;
}

}  // namespace

std::string write(const Value& value) {
    return written(value, false);
}
void append(std::string& out, const Value& value) {
    Writer(out, false).write(value);
}
void append_string(std::string& out, std::string_view text) {
    write_string(out, text);
}
std::string write_pretty(const Value& value) {
    return written(value, true);
}

}  // namespace quire::json
