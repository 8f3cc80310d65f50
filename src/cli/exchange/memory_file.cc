//
//     {"quire_memory": 1, "owner": ..., "blocks": 2, "exported_at": ..., "program": ...}
//     {a block}
//     {a block}
//     {"sha256": DIGEST}      of all bytes before this line
//
// The digest finds accidents, not forgeries: anybody can compute it. Reading checks the format's
// number first, then the digest, and only then looks at the blocks.
#include "cli/exchange/memory_file.h"

#include <utility>

#include "base/concat.h"
#include "json/fields.h"
#include "json/json.h"
#include "json/members.h"
#include "policy/call_digest.h"

namespace quire::cli {
namespace {

// The first line.
struct MemoryFileHead {
    std::int64_t format = kMemoryFileFormat;
    std::string owner;
    std::size_t blocks = 0;
    std::string exported_at;
    std::string program;
    static json::Fields<MemoryFileHead> fields() {
        return json::Fields<MemoryFileHead>()
            .required("quire_memory", &MemoryFileHead::format)
            .required("owner", &MemoryFileHead::owner)
            .required("blocks", &MemoryFileHead::blocks)
            .required("exported_at", &MemoryFileHead::exported_at)
            .required("program", &MemoryFileHead::program);
    }
};

// The last line.
struct MemoryFileEnd {
    std::string sha256;
    static json::Fields<MemoryFileEnd> fields() {
        return json::Fields<MemoryFileEnd>().required("sha256", &MemoryFileEnd::sha256);
    }
};

// A block with a long history is one line.
constexpr std::size_t kLineBytes = std::size_t{1} << 30;

Failure damaged_file(std::string_view what) {
    return corrupt(cat("the file is damaged: ", what));
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// Removes the closing line from the text, and returns its digest. A file that was cut off ends in
// another line, or within one.
Result<std::string> take_digest(std::string_view& text) {
    if (!text.ends_with('\n')) return damaged_file("it is cut off");
    const std::size_t before = text.rfind('\n', text.size() - 2);
    if (before == std::string_view::npos) return damaged_file("it is cut off");
    const auto last = json::parse(text.substr(before + 1));
    auto end = json::read<MemoryFileEnd>(last ? *last : Value());
    if (!end) return damaged_file("it is cut off");
    text = text.substr(0, before + 1);
    return std::move(end->sha256);
}

}  // namespace

std::string write_memory_file(const MemoryFile& file) {
    const MemoryFileHead head{.owner = file.owner,
                              .blocks = file.blocks.size(),
                              .exported_at = file.exported_at,
                              .program = file.program};
    std::string text = json::write(json::Codec<MemoryFileHead>::encode(head));
    text += '\n';
    for (const Value& each : file.blocks) cat_to(text, cat(json::write(each), "\n"));
    const std::string digest = policy::sha256_hex(text);
    return text + json::write(json::Codec<MemoryFileEnd>::encode({digest})) + "\n";
}

bool is_memory_file(std::string_view text) {
    const auto head = json::parse(first_line(text));
    return head && head->get("quire_memory") != nullptr;
}

Result<MemoryFile> read_memory_file(std::string_view text) {
    const Value first = TRY(json::parse(first_line(text)));
    // A later format may have other members, so its number is read first.
    const std::int64_t format = json::number_in(first, "quire_memory");
    if (format > kMemoryFileFormat) {
        return fail(Errc::unsupported, "newer_file",
                    cat("the file has format ", format, ", of a later quire; this one reads up to ",
                        kMemoryFileFormat),
                    {{"format", format}});
    }
    auto head = json::read<MemoryFileHead>(first);
    if (!head) return damaged_file(cat("line 1: ", head.error().message()));
    const std::string digest = TRY(take_digest(text));
    if (policy::sha256_hex(text) != digest) return damaged_file("its SHA-256 does not match");

    MemoryFile file{
        std::move(head->owner), std::move(head->exported_at), std::move(head->program), {}};
    text.remove_prefix(first_line(text).size() + 1);
    while (!text.empty()) {
        const std::string_view line = first_line(text);
        Result<Value> block = json::parse(line, {.bytes = kLineBytes});
        if (!block)
            return damaged_file(cat("line ", line_of_block(file.blocks.size()), " is not JSON"));
        file.blocks.push_back(std::move(*block));
        text.remove_prefix(line.size() + 1);
    }
    if (file.blocks.size() != head->blocks)
        return damaged_file(cat("it has ", file.blocks.size(), " blocks of ", head->blocks));
    return file;
}

}  // namespace quire::cli
