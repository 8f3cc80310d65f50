#include "fs/ignore_chain.h"

#include <algorithm>

#include "base/concat.h"

namespace quire::fs {

text::IgnoreChain chain_below(const text::IgnoreChain& parent, const std::string& folder,
                              const IgnoreNames& names,
                              Function<std::optional<std::string>(const std::string&)> read) {
    // Later files of the list decide before earlier ones, so what git asks last comes first.
    std::vector<text::IgnoreFile> files;
    const auto add = [&](const std::string& path) {
        if (const auto content = read(path)) files.push_back(text::IgnoreFile::parse(*content));
    };
    if (folder.empty() && std::ranges::find(names, ".gitignore") != names.end())
        add(".git/info/exclude");
    for (const std::string& name : names) add(folder.empty() ? name : cat(folder, "/", name));
    return text::IgnoreChain::below(parent, folder, std::move(files));
}

}  // namespace quire::fs
