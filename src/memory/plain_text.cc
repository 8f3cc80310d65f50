// A walk over the schema that appends lines, one overload for each kind. Room is asked for before
// each line and not within it, so a line that is begun is whole, and the text may be longer than
// the limit by its last line. Only a Text is cut, at the end of a character. O(what is written),
// but a Map reads each of its lists whole.

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
    // Appends the parts as one line.
    template <class... Parts>
    void line(const Parts&... parts) {
        (cat_to(out_, parts), ...);
        out_ += '\n';
    }

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
            line(each.name, ":", value->is_list() ? "" : cat(" ", hanging(shown(*value))));
            if (!value->is_list()) continue;
            for (const Value& item : value->as_list()) line("- ", hanging(shown(item)));
        }
    }
    void add_shape(const ListSchema& /*schema*/, const std::string& section) {
        const Elements items = reader_.elements(section).value();
        const std::size_t len = items.size();
        for (std::size_t i = 0; i < len && room() > 0; ++i)
            line("- ", hanging(item_line(items[i])));
    }
    // The newest entries are taken as far as there is room, and written oldest first, as they
    // happened.
    void add_shape(const LogSchema& log, const std::string& section) {
        const Elements entries = reader_.elements(section).value();
        std::vector<std::string> lines;  // Newest first.
        std::size_t bytes = 0;
        for (std::size_t i = entries.size(); i-- > 0 && bytes < room();) {
            lines.push_back(hanging(entry_line(log, entries[i])));
            bytes += lines.back().size() + 1;
        }
        std::for_each(lines.rbegin(), lines.rend(), [&](const std::string& each) { line(each); });
    }
    void add_shape(const CompositeSchema& composite, const std::string& section) {
        for (const Section& each : composite.sections) {
            if (room() == 0) return;
            line("=== ", each.name, " ===");
            add(*each.schema, section.empty() ? each.name : cat(section, "/", each.name));
            if (!out_.ends_with('\n')) out_ += '\n';
        }
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
