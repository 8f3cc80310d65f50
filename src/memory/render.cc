// One visitor over the schema appends lines to a string; nothing is built in between. Every value
// passes hanging() and without_block_tags(), so that no content can end the block, open another or pass
// for a section's header. Long texts are cut by line with the rope's own index, which keeps the
// cost at O(output).

#include "memory/render.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "crdt/doc/text.h"
#include "memory/render_value.h"
#include "text/escape.h"
#include "text/escape_hidden.h"

namespace quire::memory {
namespace {

constexpr std::string_view kReadOnlyMark = "[read-only]";

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool are_equal_in_any_case(std::string_view left, std::string_view right) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(left, right, {}, lower, lower);
}

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

// The name of the tag whose '<' `text` follows, and what comes after it: the '/' of a closing tag and blanks are
// passed over.
std::string_view from_tag_name(std::string_view text) {
    text = without_blanks(text);
    if (!text.empty() && text.front() == '/') text.remove_prefix(1);
    return without_blanks(text);
}

// Returns true if `text`, which follows a '<', continues as an opening or closing block tag: "block:",
// "/ BLOCK:".
bool goes_on_as_tag(std::string_view text) {
    constexpr std::string_view kTag = "block:";
    return are_equal_in_any_case(from_tag_name(text).substr(0, kTag.size()), kTag);
}

// Only the '<' of a block tag is escaped; other markup stays as it was written.
std::string without_block_tags(std::string from) {
    const std::string_view text = from;
    std::string out;
    std::size_t begin = 0;
    for (std::size_t at = text.find('<'); at != std::string_view::npos;
         at = text.find('<', at + 1)) {
        if (!goes_on_as_tag(text.substr(at + 1))) continue;
        out.append(text.substr(begin, at - begin)).append("&lt;");
        begin = at + 1;
    }
    // Nearly no text has one.
    if (begin == 0) return from;
    out.append(text.substr(begin));
    return out;
}

// Returns true if `text`, which follows a '<', continues as an opening or closing tag of that name. O(name and
// the blanks around it).
bool goes_on_as_tag_of(std::string_view name, std::string_view text) {
    text = from_tag_name(text);
    return !name.empty() && are_equal_in_any_case(text.substr(0, name.size()), name) &&
           without_blanks(text.substr(name.size())).starts_with('>');
}

// Returns true if the line is a tag and nothing else. A comment is none.
bool is_tag_alone(std::string_view line) {
    while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
    return line.starts_with('<') && !line.starts_with("<!") && line.find('>') == line.size() - 1;
}

// Escapes the tags with which content could end the block of that name in plain style, or begin another. O(text).
std::string without_plain_tags(std::string_view text, std::string_view name) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const std::string_view line = text.substr(begin, end - begin);
        const std::string_view inside = line.substr(0, line.find('\n'));
        bool is_tag = is_tag_alone(without_blanks(inside));
        for (std::size_t i = 0; i < line.size(); ++i) {
            const bool opens = line[i] == '<';
            out += opens && (is_tag || goes_on_as_tag_of(name, line.substr(i + 1)))
                       ? std::string_view("&lt;")
                       : line.substr(i, 1);
            is_tag = is_tag && !opens;
        }
        begin = end;
    }
    return out;
}

// A label as part of a tag: blanks, control characters and tag characters are percent-escaped.
std::string tag_name(std::string_view label) {
    std::string reserved = " \x7F<>&\"'";
    for (char c = 0; c < ' '; ++c) reserved += c;
    return text::percent_escaped(label, reserved);
}

// The name of a section or field as it is drawn, with a mark if it is read-only: hidden characters
// are escaped, and a name that contains the mark is told apart from it.
std::string drawn_name(std::string_view name, bool is_read_only) {
    std::string out = text::escape_hidden(name);
    for (std::size_t at = out.find(kReadOnlyMark); at != std::string::npos;
         at = out.find(kReadOnlyMark, at + 1))
        out.insert(at++, 1, '\\');
    if (is_read_only) cat_to(out, cat(" ", kReadOnlyMark));
    return out;
}

// The text on one line, unable to end the comment around it.
std::string comment(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool control = static_cast<unsigned char>(c) < 0x20;
        if (c == '>' && out.size() >= 2 && out.substr(out.size() - 2) == "--") {
            out += "&gt;";
        } else {
            out += control ? ' ' : c;
        }
    }
    return without_block_tags(std::move(out));
}

// Builds the body of a block.
class Body {
public:
    Body(const MemoryReader& reader, const RenderOptions& options)
        : reader_(reader), options_(options) {}

    // Appends lines, each with its end.
    void add(const BlockSchema& schema, const std::string& section) {
        std::visit([&](const auto& shape) { add_shape(shape, section); }, schema.shape());
    }
    std::string take() { return std::move(out_); }

private:
    bool is_plain() const { return options_.style == RenderStyle::plain; }
    bool describes() const { return options_.describes && !is_plain(); }
    void describe(const std::vector<Field>& fields);
    void add_shape(const TextSchema& schema, const std::string& section);
    void add_shape(const MapSchema& map, const std::string& section);
    void add_shape(const ListSchema& list, const std::string& section);
    void add_shape(const LogSchema& log, const std::string& section);
    void add_shape(const CompositeSchema& composite, const std::string& section);
    void add_lines(const seq::Rope& text, std::size_t first, std::size_t last);
    void indent_headers(std::size_t begin);
    // Appends the parts as one line.
    template <class... Parts>
    void line(const Parts&... parts) {
        (cat_to(out_, parts), ...);
        out_ += '\n';
    }

    const MemoryReader& reader_;
    const RenderOptions& options_;
    std::string out_;
};

// Appends the lines [first, last) of a text, 0-based.
void Body::add_lines(const seq::Rope& text, std::size_t first, std::size_t last) {
    std::string lines = text.slice(text.line_start({first}), text.line_start({last}));
    if (out_.empty()) {
        out_ = std::move(lines);
    } else {
        out_ += lines;
    }
    if (last > first && out_.back() != '\n') out_ += '\n';
}

// Indents the lines after `begin` that look like the header of a section.
void Body::indent_headers(std::size_t begin) {
    while (begin < out_.size()) {
        if (out_.compare(begin, 3, "===") == 0) out_.insert(begin, 1, ' ');
        begin = out_.find('\n', begin) + 1;
    }
}

void Body::add_shape(const TextSchema& schema, const std::string& section) {
    const seq::Rope& text = *reader_.text(section).value();
    const std::size_t lines = text.lines().n;
    if (lines == 0) return;
    std::size_t first = 0;
    std::size_t last = lines;
    if (schema.viewport) {
        first = schema.viewport->start_line - 1;
        if (first >= lines) {
            line("[Viewport: lines ", first + 1, "-", first + schema.viewport->display_lines,
                 " of ", lines, " (past end of content)]");
            return;
        }
        last = std::min(lines, first + schema.viewport->display_lines);
    }
    // The whole lines that fit, and at least one, which is cut if it is too long by itself.
    const text::Byte begin = text.line_start({first});
    if ((text.line_start({last}) - begin).n > options_.text_bytes) {
        last = text.to_line(begin + text::Byte{options_.text_bytes}).n;
        if (last == first) {
            line("[Showing the first ", options_.text_bytes, " bytes of line ", first + 1, " of ",
                 lines, "]");
            const text::Byte cut =
                text.to_byte(text.to_code_point(begin + text::Byte{options_.text_bytes}));
            line(text.slice(begin, cut));
            return;
        }
    }
    if (schema.viewport || last < lines)
        line("[Showing lines ", first + 1, "-", last, " of ", lines, "]");
    add_lines(text, first, last);
}

// One line says what the fields are for, as far as the schema does.
void Body::describe(const std::vector<Field>& fields) {
    if (!describes()) return;
    std::string said;
    for (const Field& field : fields) {
        if (field.description.empty()) continue;
        cat_to(said, cat(said.empty() ? "" : "; ", drawn_name(field.name, false), ": ",
                         field.description));
    }
    if (!said.empty()) line("<!-- ", comment(said), " -->");
}

// A List field becomes lines of its own below its name; in plain style behind the other fields.
void Body::add_shape(const MapSchema& map, const std::string& section) {
    describe(map.fields);
    std::string unset;
    std::vector<std::pair<std::string, Value>> lists;
    const auto add_list = [&](const std::string& name, const Value& list) {
        line(name, ":");
        for (const Value& item : list.as_list())
            line(is_plain() ? "  - " : "- ", hanging(shown(item)));
    };
    const auto add_field = [&](const Field& field, const std::optional<Value>& value) {
        if (!value && !field.required) {
            cat_to(unset, cat(unset.empty() ? "" : ", ", drawn_name(field.name, field.read_only)));
            return;
        }
        const std::string name = drawn_name(field.name, field.read_only);
        if (!value) {
            line(name, ": (unset)");
        } else if (value->is_list() && is_plain()) {
            lists.emplace_back(name, *value);
        } else if (value->is_list()) {
            add_list(name, *value);
        } else {
            line(name, ": ", hanging(shown(*value)));
        }
    };
    reader_.for_each_field(map, section, add_field);
    for (const auto& [name, list] : lists) add_list(name, list);
    if (!unset.empty()) line("(unset: ", unset, ")");
}

void Body::add_shape(const ListSchema& /*list*/, const std::string& section) {
    const Elements items = reader_.elements(section).value();
    const std::size_t len = items.size();
    const std::size_t count = std::min(len, options_.list_items);
    if (count < len) line("[Showing the first ", count, " of ", len, " items]");
    for (std::size_t i = 0; i < count; ++i) line(i + 1, ". ", hanging(item_line(items[i])));
}

// Newest first, so that a model that stops reading has read the latest.
void Body::add_shape(const LogSchema& log, const std::string& section) {
    const Elements entries = reader_.elements(section).value();
    const std::size_t len = entries.size();
    const std::size_t count = std::min(len, log.display_limit);
    // In plain style the comment of the block says how many are shown.
    if (!is_plain() || !section.empty()) {
        if (count < len) {
            line("[Showing the newest ", count, " of ", len, " entries]");
        } else if (len > 0) {
            line("[Showing all ", len, len == 1 ? " entry]" : " entries]");
        }
    }
    for (std::size_t i = len; i > len - count; --i)
        line(hanging(entry_line(log, entries[i - 1], !is_plain())));
}

// Lines of content that begin like a header are indented, but the headers of inner sections must
// stay.
void Body::add_shape(const CompositeSchema& composite, const std::string& section) {
    for (const Section& each : composite.sections) {
        line("=== ", drawn_name(each.name, each.read_only), " ===");
        if (describes() && !each.description.empty())
            line("<!-- ", comment(each.description), " -->");
        const std::size_t begin = out_.size();
        add(*each.schema, section.empty() ? each.name : cat(section, "/", each.name));
        if (each.schema->as<CompositeSchema>() == nullptr) indent_headers(begin);
    }
}

}  // namespace

Result<std::string> render_body(const MemoryReader& reader, std::string_view section,
                                const RenderOptions& options) {
    Body body(reader, options);
    if (section.empty()) {
        body.add(reader.schema(), "");
    } else {
        body.add(*TRY(locate(reader.schema(), section)).schema, std::string(section));
    }
    return options.style == RenderStyle::plain ? without_plain_tags(body.take(), "")
                                               : without_block_tags(body.take());
}

namespace {

// The block's description, and in plain style the number of entries that a log shows.
std::string about(const MemoryBlock& block, const RenderOptions& options) {
    const auto* const log = block.schema.as<LogSchema>();
    if (options.style == RenderStyle::tags || log == nullptr) return comment(block.description);
    const std::string count = cat("last ", log->display_limit, " shown");
    return block.description.empty() ? count : cat(comment(block.description), " (", count, ")");
}

}  // namespace

std::string render(const MemoryReader& reader, const MemoryBlock& block,
                   const RenderOptions& options) {
    const bool is_plain = options.style == RenderStyle::plain;
    const std::string name = tag_name(block.label);
    const std::string tag = is_plain ? name : cat("block:", name);
    std::string out = cat("<", tag);
    if (!is_plain) cat_to(out, cat(" permission=\"", title_of(options.permission), "\""));
    if (!is_plain && !options.shared_from.empty())
        cat_to(out, cat(" shared_from=\"", tag_name(options.shared_from), "\""));
    out += ">\n";
    std::string inside;
    if (const std::string said = about(block, options); !said.empty())
        inside = cat("<!-- ", said, " -->\n");
    const std::string body = render_body(reader, "", options).value();
    if (is_plain) {
        cat_to(out, without_plain_tags(cat(inside, body), name));
    } else {
        cat_to(out, inside);
        cat_to(out, body);
    }
    cat_to(out, cat("</", tag, ">"));
    return out;
}

// The key compares versions, which is cheaper than rendering.
const std::string& RenderCache::get(const MemoryReader& reader, const MemoryBlock& block,
                                    const RenderOptions& options) {
    if (!reader.doc().pending().empty()) {
        key_.reset();
        text_ = renderer_(reader, block, options);
        return text_;
    }
    const crdt::VersionVector& version = reader.doc().version();
    if (key_ && key_->version == version && key_->options == options && key_->block == block)
        return text_;
    text_ = renderer_(reader, block, options);
    key_ = Key{version, block, options};
    return text_;
}

}  // namespace quire::memory
