// Rendering: the text of a memory block for a model's prompt.
//
//   <block:LABEL permission="Read, Append, Write">
//   <!-- DESCRIPTION -->
//   <!-- FIELD: what it is for; FIELD: what it is for -->
//   BODY
//   </block:LABEL>
//
//   Map        name: value, for each field that is set or has a default; "- item" lines below a
//              List field; name [read-only]: value; name: (unset) for a required field; then one
//              line (unset: name, name) for the others
//   List       1. [x] title (priority: high)
//   Log        [2025-01-23 14:32] (agent) text, newest first, below a line with the number shown
//   Text       the text; if it is long or has a viewport, the shown lines and their numbers
//   Composite  === name [read-only] ===, <!-- what the section is for -->, then the section
//
// RenderStyle::plain draws <LABEL>, no permission, what the block is for and not what its fields and sections
// are for, list fields behind the others and with "  - item", and a log's entries without their writers, with
// the number of entries beside the description: <!-- DESCRIPTION (last 10 shown) -->.
//
// Content cannot imitate structure. The '<' of an opening or closing block tag in it becomes &lt;; in plain style
// that of the block's own tags does, and that of a line which is nothing but a tag. The further lines of a value
// are indented, and so are lines of a Composite's texts that begin with "===".
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "memory/memory_block.h"
#include "memory/memory_reader.h"
#include "memory/render_style.h"

namespace quire::memory {

struct RenderOptions {
    RenderStyle style = RenderStyle::tags;
    // Says what fields and sections are for, unless the style is plain.
    bool describes = true;
    policy::Permission permission = policy::Permission::read_write;  // The reader's.
    // The owner, if the block belongs to another actor; else "".
    std::string shared_from = {};
    // A longer text is cut at the last line end before this.
    std::size_t text_bytes = 64UL << 10;
    // The first items only.
    std::size_t list_items = 500;
    friend bool operator==(const RenderOptions&, const RenderOptions&) = default;
};

// O(output): neither a long text nor a long log is read as a whole.
std::string render(const MemoryReader& reader, const MemoryBlock& block,
                   const RenderOptions& options);
// Only the body, of the whole block or of one section. Errors: those of locate().
Result<std::string> render_body(const MemoryReader& reader, std::string_view section,
                                const RenderOptions& options);

// The type of render(). Programs may supply their own; it must depend on its arguments only.
using Renderer =
    std::function<std::string(const MemoryReader&, const MemoryBlock&, const RenderOptions&)>;

// Keeps the last rendering, valid while the document's version, the block and the options stay
// equal. Keeps nothing while a transaction is pending. Belongs to one document.
class RenderCache {
public:
    explicit RenderCache(Renderer renderer = render) : renderer_(std::move(renderer)) {}

    // Valid until the next call.
    const std::string& get(const MemoryReader& reader, const MemoryBlock& block,
                           const RenderOptions& options);

private:
    struct Key {
        crdt::VersionVector version;
        MemoryBlock block;
        RenderOptions options;
        friend bool operator==(const Key&, const Key&) = default;
    };
    Renderer renderer_;
    std::optional<Key> key_;
    std::string text_;
};

}  // namespace quire::memory
