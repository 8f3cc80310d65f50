// The kinds of documents, as the store names them.
#pragma once

namespace quire::kernel {

inline constexpr const char* kConversationKind = "conversation";
// Memory blocks (kernel/memory/memory_calls.h), which are named by their labels.
inline constexpr const char* kMemoryKind = "memory";
// Files, which are named by their paths.
inline constexpr const char* kFileKind = "file";

}  // namespace quire::kernel
