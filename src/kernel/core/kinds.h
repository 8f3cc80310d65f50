// The kinds of documents, as the store names them. They are data: a kind that a stored workspace
// has is never renamed.
#pragma once

#include <string>
#include <string_view>

namespace quire::kernel {

// The blocks of a conversation are in one document, named by the conversation. Of the other kinds
// each block is a document of its own.
inline constexpr const char* kConversationKind = "conversation";
// Memory blocks (kernel/memory/memory_calls.h), which are named by their labels.
inline constexpr const char* kMemoryKind = "memory";
// Files, which are named by their paths.
inline constexpr const char* kFileKind = "file";
// They stand before a path or a label where a block's id may stand.
inline constexpr std::string_view kFilePrefix = "file:";
inline constexpr std::string_view kMemoryPrefix = "memory:";
inline std::string file_address(std::string_view path) {
    return std::string(kFilePrefix).append(path);
}
// Private copies of files (kernel/files/file_stage.h), which are named by the file's path and owned
// by the actor who staged it.
inline constexpr const char* kStageKind = "stage";

// The descriptions of the entries of a file's history that make the file and that delete it.
inline constexpr const char* kFileCreated = "create";
inline constexpr const char* kFileDeleted = "delete";

// Returns true for the kinds whose text is, or may become, that of a file.
constexpr bool is_file_text(std::string_view kind) {
    return kind == kFileKind || kind == kStageKind;
}

}  // namespace quire::kernel
