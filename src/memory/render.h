// Rendering: a memory block as a model reads it.
//
//   <block:LABEL permission="Read, Append, Write">
//   <!-- DESCRIPTION -->
//   BODY
//   </block:LABEL>
//
//   Map        name: value, one for each field that is set or has a default; "- item" lines below a
//              List field; name [read-only]: value; name: (unset) for a required one
//   List       1. [x] title (priority: high)
//   Log        [2025-01-23 14:32] (agent) text, newest first, how many are shown above them
//   Text       as it is; of a long one, or one with a viewport, the lines that are shown, and which
//   Composite  === name [read-only] ===, then the section
//
// Content cannot pass for what it is not: no opening or closing block tag survives in it (its '<'
// becomes &lt;), the further lines of a value are indented, and in a Composite's texts a line that
// begins with "===" is indented, too.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "memory/memory_block.h"
#include "memory/memory_reader.h"

namespace quire::memory {

struct RenderOptions {
    policy::Permission permission = policy::Permission::read_write;  // The reader's.
    std::string shared_from = {};         // The owner, where that is another; "" for none.
    std::size_t text_bytes = 64UL << 10;  // A text beyond this is shown to a line's end before.
    std::size_t list_items = 500;         // The first so many.
    friend bool operator==(const RenderOptions&, const RenderOptions&) = default;
};

// O(what is shown): neither a long text nor a long log is looked at as a whole.
std::string render(const MemoryReader& reader, const MemoryBlock& block,
                   const RenderOptions& options);
// The body alone, of the whole block or of one section. Errors: those of locate().
Result<std::string> render_body(const MemoryReader& reader, std::string_view section,
                                const RenderOptions& options);

// What render() is; a program may have its own. It must depend on its arguments alone.
using Renderer =
    std::function<std::string(const MemoryReader&, const MemoryBlock&, const RenderOptions&)>;

// What was rendered last, for as long as the document's version, the block and the options are the
// same. Nothing is kept while a transaction is pending. Belongs to one document.
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
