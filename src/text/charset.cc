// The conversions are glibc's, which has the tables of all these charsets. Its names differ from
// ours in places: a file that says Shift JIS is nearly always in Microsoft's form of it, CP932.
//
// A conversion by iconv may be lossy although it reports no error, since several codes of some
// charsets mean the same character. Whoever has to write the same bytes back converts them back and
// compares.

#include "text/charset.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <iconv.h>

#include "base/check.h"
#include "base/concat.h"

namespace quire::text {
namespace {

struct OtherName {
    std::string_view name;
    Charset charset;
};
constexpr auto kOtherNames = std::to_array<OtherName>({
    {"utf8", Charset::utf_8},
    {"iso88591", Charset::latin_1},
    {"latin2", Charset::iso_8859_2},
    {"latin5", Charset::iso_8859_9},
    {"latin9", Charset::iso_8859_15},
    {"latin10", Charset::iso_8859_16},
    {"cp437", Charset::ibm437},
    {"cp850", Charset::ibm850},
    {"cp866", Charset::ibm866},
    {"cp932", Charset::shift_jis},
    {"windows31j", Charset::shift_jis},
    {"sjis", Charset::shift_jis},
    {"macroman", Charset::macintosh},
    {"gbk", Charset::gb18030},
    {"gb2312", Charset::gb18030},
});

// The name that iconv knows.
std::string iconv_name(Charset charset) {
    if (charset == Charset::latin_1) return "ISO-8859-1";
    if (charset == Charset::shift_jis) return "CP932";
    const std::string_view name = name_of(charset);
    constexpr std::string_view kWindows = "windows-";
    if (name.starts_with(kWindows)) return cat("CP", name.substr(kWindows.size()));
    return std::string(name);
}

// Small letters and digits alone.
std::string plain(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (c == '-' || c == '_' || c == ' ') continue;
        out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return out;
}

// A conversion, opened for one text.
class Conversion {
public:
    Conversion(const std::string& to, const std::string& from)
        : handle_(::iconv_open(to.c_str(), from.c_str())) {}
    Conversion(const Conversion&) = delete;
    Conversion& operator=(const Conversion&) = delete;
    ~Conversion() {
        if (is_open()) ::iconv_close(handle_);
    }
    // Returns false where the C library's tables are not installed.
    bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

    Converted<std::string> run(std::string_view in) {
        std::string out(in.size() + in.size() / 2 + 16, '\0');
        char* from = const_cast<char*>(in.data());
        std::size_t left = in.size();
        std::size_t filled = 0;
        // The last round writes what the charset needs at its end.
        for (bool ending = false;;) {
            char* to = out.data() + filled;
            std::size_t room = out.size() - filled;
            const std::size_t made =
                ::iconv(handle_, ending ? nullptr : &from, &left, &to, &room);
            filled = out.size() - room;
            if (made == static_cast<std::size_t>(-1)) {
                if (errno != E2BIG) return tl::unexpected(Unconvertible{in.size() - left});
                out.resize(out.size() * 2);
            } else if (ending) {
                out.resize(filled);
                return out;
            } else {
                ending = true;
            }
        }
    }

private:
    iconv_t handle_;
};

Converted<std::string> convert(const std::string& to, const std::string& from,
                               std::string_view in) {
    Conversion conversion(to, from);
    if (!conversion.is_open()) return tl::unexpected(Unconvertible{0});
    return conversion.run(in);
}

}  // namespace

Result<Charset> parse_charset(std::string_view name) {
    std::string wanted = plain(name);
    for (const Charset each : kEvery<Charset>) {
        if (plain(name_of(each)) == wanted) return each;
    }
    const auto other = std::ranges::find(kOtherNames, wanted, &OtherName::name);
    if (other != kOtherNames.end()) return other->charset;
    if (wanted.starts_with("cp")) {
        wanted.replace(0, 2, "windows");
        for (const Charset each : kEvery<Charset>) {
            if (plain(name_of(each)) == wanted) return each;
        }
    }
    return invalid("unknown_encoding", cat("unknown encoding '", name, "', expected one of: ",
                                           listed_words<Charset>()));
}

Converted<std::string> to_utf8(Charset from, std::string_view bytes) {
    return convert("UTF-8", iconv_name(from), bytes);
}

Converted<std::string> from_utf8(Charset to, std::string_view text) {
    return convert(iconv_name(to), "UTF-8", text);
}

}  // namespace quire::text
