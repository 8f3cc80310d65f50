#include "memory/plain_text.h"

#include <algorithm>

#include "base/concat.h"
#include "crdt/doc/text.h"
#include "memory/render_value.h"

namespace quire::memory {
namespace {

// Builds the lines of a block, within a limit of bytes.
class Lines {
public:
    Lines(const MemoryReader& reader, std::size_t bytes) : reader_(reader), bytes_(bytes) {}

    void add(const BlockSchema& schema, const std::string& section) {
        std::visit([&](const auto& shape) { add_shape(shape, section); }, schema.shape());
    }
    std::string take() { return std::move(out_); }

private:
    std::size_t room() const { return bytes_ - std::min(bytes_, out_.size()); }
    void line(std::string_view text) { cat_to(out_, cat(text, "\n")); }

    void add_shape(const TextSchema& /*schema*/, const std::string& section) {
        const seq::Rope& text = *reader_.text(section).value();
        if (text.bytes().n <= room()) {
            out_ += text.str();
        } else {
            out_ += text.slice({0}, text.to_byte(text.to_code_point({room()})));
        }
    }
    void add_shape(const MapSchema& map, const std::string& section) {
        for (const Field& each : map.fields) {
            if (room() == 0) return;
            const std::optional<Value> value = reader_.value_of_field(section, each);
            if (!value) continue;
            line(cat(each.name, ":", value->is_list() ? "" : cat(" ", hanging(shown(*value)))));
            if (!value->is_list()) continue;
            for (const Value& item : value->as_list()) line(cat("- ", hanging(shown(item))));
        }
    }
    void add_shape(const ListSchema& /*schema*/, const std::string& section) {
        const std::size_t len = reader_.size(section).value();
        for (std::size_t i = 0; i < len && room() > 0; ++i)
            line(cat("- ", hanging(item_line(element(section, i)))));
    }
    void add_shape(const LogSchema& log, const std::string& section) {
        std::vector<std::string> entries;  // Newest first.
        std::size_t bytes = 0;
        for (std::size_t i = reader_.size(section).value(); i-- > 0 && bytes < room();) {
            entries.push_back(hanging(entry_line(log, element(section, i))));
            bytes += entries.back().size() + 1;
        }
        std::for_each(entries.rbegin(), entries.rend(),
                      [&](const std::string& entry) { line(entry); });
    }
    void add_shape(const CompositeSchema& composite, const std::string& section) {
        for (const Section& each : composite.sections) {
            if (room() == 0) return;
            line(cat("=== ", each.name, " ==="));
            add(*each.schema, section.empty() ? each.name : cat(section, "/", each.name));
            if (!out_.ends_with('\n')) out_ += '\n';
        }
    }
    Value element(const std::string& section, std::size_t index) const {
        return reader_.at(section, static_cast<std::int64_t>(index)).value();
    }

    const MemoryReader& reader_;
    const std::size_t bytes_;
    std::string out_;
};

}  // namespace

std::string plain_text(const MemoryReader& reader, std::size_t bytes) {
    Lines lines(reader, bytes);
    lines.add(reader.schema(), "");
    return lines.take();
}

}  // namespace quire::memory
