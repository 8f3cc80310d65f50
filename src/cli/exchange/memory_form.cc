// Writes a block as TOML, with comments that tell a person what each part is.
//
// TOML is chosen because people can edit it without learning it. All that a value can hold has to
// survive the way there and back, so control characters, byte order marks and nulls are escaped,
// and a text of several lines keeps its lines.
#include "cli/exchange/memory_form.h"

#include <algorithm>
#include <vector>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "json/json.h"
#include "memory/written.h"

namespace quire::cli {
namespace {

using memory::BlockSchema;
using memory::Field;

bool is_bare_key(std::string_view key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

// Escapes what editors or TOML would change, and what nobody can see. A byte order mark and U+0085
// are among them: editors remove the one, and some take the other for a line end. Tabs and line
// ends stay as they are in a text of several lines.
void escape(std::string& out, std::string_view text, bool many_lines) {
    int quotes = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        quotes = text[i] == '"' ? quotes + 1 : 0;
        if (text[i] == '\\') {
            out += "\\\\";
        } else if (text[i] == '"') {
            // Three quotes in a row would end the text. One at its very end is escaped for readers
            // older than TOML 1.0.
            const bool plain = many_lines && quotes < 3 && i + 1 < text.size();
            out += plain ? "\"" : "\\\"";
            if (!plain) quotes = 0;
        } else if (text[i] == '\n') {
            out += many_lines ? "\n" : "\\n";
        } else if (text[i] == '\t') {
            out += many_lines ? "\t" : "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            append_hex(out, byte);
        } else if (text.substr(i).starts_with("\xef\xbb\xbf")) {
            out += "\\ufeff";
            i += 2;
        } else if (text.substr(i).starts_with("\xc2\x85")) {
            out += "\\u0085";
            i += 1;
        } else {
            out += text[i];
        }
    }
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    escape(out, text, false);
    return out + "\"";
}

std::string key_text(std::string_view key) {
    return is_bare_key(key) ? std::string(key) : in_quotes(key);
}

bool is_all_dollars(std::string_view key) {
    return !key.empty() && key.find_first_not_of('$') == std::string_view::npos;
}

// The value on one line.
std::string inline_text(const Value& value) {
    if (value.is_null()) return R"({"$" = "null"})";
    if (value.is_string()) return in_quotes(value.as_string());
    if (value.is_list()) {
        std::string out = "[";
        for (const Value& each : value.as_list())
            out += cat(out.size() > 1 ? ", " : "", inline_text(each));
        return out + "]";
    }
    if (value.is_map()) {
        std::string out = "{";
        for (const Map::Entry& each : value.as_map()) {
            const std::string key = is_all_dollars(each.key) ? cat(each.key, "$") : each.key;
            out += cat(out.size() > 1 ? ", " : " ", key_text(key), " = ", inline_text(each.value));
        }
        return out + (out.size() > 1 ? " }" : "}");
    }
    return json::write(value);  // TOML spells numbers and booleans like JSON.
}

// The value as it follows "KEY = ".
std::string value_text(const Value& value) {
    constexpr std::size_t kWide = 80;
    if (value.is_string() && value.as_string().find('\n') != std::string::npos) {
        std::string out = "\"\"\"\n";
        escape(out, value.as_string(), true);
        return out + "\"\"\"";
    }
    std::string line = inline_text(value);
    if (!value.is_list() || line.size() <= kWide) return line;
    std::string out = "[\n";
    for (const Value& each : value.as_list()) out += cat("    ", inline_text(each), ",\n");
    return out + "]";
}

// Writes the parts of a block in the order of its schema, with a comment above each that says its
// type and what may be done with it.
class FormWriter {
public:
    explicit FormWriter(const FormHead& head) {
        comment(cat("The memory block '", head.label, "', version ", head.version, ", as TOML."));
        if (!head.description.empty()) comment(head.description);
        comment(
            "Save and close to write your changes back; the rest of the block is not touched. "
            "An unchanged file changes nothing.");
        if (head.permission == "read_only") comment("[read-only]: changes will be refused.");
        if (head.permission == "append")
            comment("You may add to this block, but not change what is there.");
        out_ += '\n';
    }

    void block(const BlockSchema& schema, const Value& value, const std::string& path) {
        if (schema.as<memory::TextSchema>() != nullptr) {
            table(path);
            put("text", value);
        } else if (const auto* map = schema.as<memory::MapSchema>()) {
            table(path);
            fields(map->fields, value);
        } else if (const auto* composite = schema.as<memory::CompositeSchema>()) {
            for (const memory::Section& each : composite->sections)
                section(each, value.get(each.name), below(path, each.name));
        } else {
            const bool is_log = schema.as<memory::LogSchema>() != nullptr;
            sequence(schema, is_log ? "entries" : "items", value, path);
        }
    }

    std::string take() { return std::move(out_); }

private:
    static std::string below(const std::string& path, std::string_view name) {
        return cat(path, path.empty() ? "" : ".", key_text(name));
    }
    void line(std::string_view text) {
        out_ += text;
        out_ += '\n';
    }
    // Texts of people and programs may hold control characters; a comment may not.
    void comment(std::string_view text) {
        std::string clean = "# ";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '\n') {
                clean += "\n# ";
            } else {
                clean += (byte < 0x20 && c != '\t') || byte == 0x7f ? ' ' : c;
            }
        }
        line(clean);
    }
    // Each line gets its own mark, so that a text of several lines stays within the comment.
    void commented(std::string_view text) {
        std::string out = "# ";
        for (const char c : text) {
            out += c;
            if (c == '\n') out += "# ";
        }
        line(out);
    }
    void table(const std::string& path) {
        if (!path.empty()) line(cat("[", path, "]"));
    }
    void put(std::string_view key, const Value& value) {
        line(cat(key_text(key), " = ", value_text(value)));
    }

    static std::string about(const Field& field) {
        return cat("[", name_of(field.type), field.required ? ", required" : "",
                   field.read_only ? ", read-only" : "", "]", field.description.empty() ? "" : " ",
                   field.description);
    }

    void fields(const std::vector<Field>& fields, const Value& value) {
        for (const Field& each : fields) {
            comment(about(each));
            const Value* here = value.get(each.name);
            if (here == nullptr) {
                comment(cat(key_text(each.name), " =          # not set"));
            } else if (each.read_only) {
                commented(cat(key_text(each.name), " = ", value_text(*here)));
            } else {
                put(each.name, *here);
            }
        }
    }

    // A section that only a source may write is written like any other and then turned into
    // comments: the person sees it, and reading the form back does not.
    void section(const memory::Section& section, const Value* value, const std::string& path) {
        if (value == nullptr) return;
        if (!out_.ends_with("\n\n")) out_ += '\n';
        if (!section.description.empty()) comment(section.description);
        if (!section.read_only) return block(*section.schema, *value, path);
        comment(cat("[read-only] The section '", section.name, "':"));
        const std::size_t begin = out_.size();
        block(*section.schema, *value, path);
        const std::string inside = out_.substr(begin, out_.size() - begin - 1);
        out_.resize(begin);
        commented(inside);
    }

    // Items that are all objects get a header each. An empty list with known fields gets no
    // `items = []`, with which the first [[items]] of a person would be invalid.
    void sequence(const BlockSchema& schema, std::string_view key, const Value& value,
                  const std::string& path) {
        const List& list = value.as_list();
        const std::string name = below(path, key);
        const bool are_objects =
            !list.empty() &&
            std::all_of(list.begin(), list.end(), [](const Value& each) { return each.is_map(); });
        const std::vector<Field>* known = memory::fields_of(schema);
        if (schema.as<memory::LogSchema>() != nullptr) {
            comment(
                "Oldest first. Add new entries at the end; the existing ones cannot be changed.");
        }
        if (known != nullptr) {
            comment(cat("To add one, write [[", name, "]] and below it:"));
            for (const Field& each : *known)
                comment(cat("  ", key_text(each.name), " =   ", about(each)));
        }
        if (!are_objects) {
            table(path);
            // TOML cannot append [[items]] to a list that is written as items = [ … ].
            if (!list.empty() || known == nullptr) put(key, value);
            return;
        }
        for (const Value& each : list) {
            if (!out_.ends_with("\n\n")) out_ += '\n';
            line(cat("[[", name, "]]"));
            for (const Map::Entry& member : each.as_map()) {
                const Field* field =
                    known == nullptr ? nullptr : memory::find_field(*known, member.key);
                if (field != nullptr && field->read_only) comment("[read-only]");
                put(is_all_dollars(member.key) ? cat(member.key, "$") : member.key, member.value);
            }
        }
    }

    std::string out_;
};

}  // namespace

std::string_view form_extension(const BlockSchema& schema) {
    return schema.as<memory::TextSchema>() != nullptr ? "txt" : "toml";
}

std::string write_form(const FormHead& head, const BlockSchema& schema, const Value& value) {
    if (schema.as<memory::TextSchema>() != nullptr && value.is_string()) {
        const std::string& text = value.as_string();
        return text.empty() || text.back() == '\n' ? text : text + "\n";
    }
    FormWriter writer(head);
    writer.block(schema, value, "");
    return writer.take();
}

}  // namespace quire::cli
