// file_text(): the bytes of a small file, "" where it cannot be read.
//
// The iterators of a stream throw where a file opens and cannot be read: a directory, or a file of /proc
// whose process ended in between. This does not throw.
//
// An empty file and one that cannot be read give the same answer: a caller for whom they differ
// opens the file itself.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace quire {

inline std::string file_text(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    if (file) out << file.rdbuf();
    return std::move(out).str();
}

}  // namespace quire
