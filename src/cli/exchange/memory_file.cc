#include "cli/exchange/memory_file.h"

#include <utility>

#include "base/concat.h"
#include "cli/exchange/members.h"
#include "json/json.h"
#include "policy/call_digest.h"

namespace quire::cli {
namespace {

constexpr std::string_view kMark = "quire_memory";
constexpr std::size_t kLineBytes = std::size_t{1} << 30;

Failure damaged_file(std::string_view what) {
    return corrupt(cat("the file is damaged: ", what));
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// Removes the closing line from the text, and returns its digest.
Result<std::string> take_digest(std::string_view& text) {
    if (!text.ends_with('\n')) return damaged_file("it is cut off");
    const std::size_t before = text.rfind('\n', text.size() - 2);
    if (before == std::string_view::npos) return damaged_file("it is cut off");
    const auto last = json::parse(text.substr(before + 1));
    std::string digest = last ? text_of(*last, "sha256") : "";
    if (digest.empty()) return damaged_file("it is cut off");
    text = text.substr(0, before + 1);
    return digest;
}

}  // namespace

std::string write_memory_file(const MemoryFile& file) {
    std::string text = json::write(Map{{kMark.data(), kMemoryFileFormat},
                                       {"owner", file.owner},
                                       {"blocks", file.blocks.size()},
                                       {"exported_at", file.exported_at},
                                       {"program", file.program}});
    text += '\n';
    for (const Value& each : file.blocks) cat_to(text, cat(json::write(each), "\n"));
    const std::string digest = policy::sha256_hex(text);
    return text + json::write(Map{{"sha256", digest}}) + "\n";
}

bool is_memory_file(std::string_view text) {
    const auto head = json::parse(first_line(text));
    return head && head->get(kMark) != nullptr;
}

Result<MemoryFile> read_memory_file(std::string_view text) {
    const Value head = TRY(json::parse(first_line(text)));
    const Value* format = head.get(kMark);
    const Value* count = head.get("blocks");
    if (format == nullptr || !format->is_int() || count == nullptr || !count->is_int())
        return damaged_file("its first line is malformed");
    if (format->as_int() > kMemoryFileFormat) {
        return fail(Errc::unsupported, "newer_file",
                    cat("the file has format ", format->as_int(), ", of a later quire; this one ",
                        "reads up to ", kMemoryFileFormat),
                    {{"format", *format}});
    }
    const std::string digest = TRY(take_digest(text));
    if (policy::sha256_hex(text) != digest) return damaged_file("its SHA-256 does not match");

    MemoryFile file{
        text_of(head, "owner"), text_of(head, "exported_at"), text_of(head, "program"), {}};
    text.remove_prefix(first_line(text).size() + 1);
    while (!text.empty()) {
        const std::string_view line = first_line(text);
        Result<Value> block = json::parse(line, {.bytes = kLineBytes});
        if (!block)
            return damaged_file(cat("line ", line_of_block(file.blocks.size()), " is not JSON"));
        file.blocks.push_back(std::move(*block));
        text.remove_prefix(line.size() + 1);
    }
    if (file.blocks.size() != static_cast<std::size_t>(count->as_int()))
        return damaged_file(cat("it has ", file.blocks.size(), " blocks of ", count->as_int()));
    return file;
}

}  // namespace quire::cli
