// The URIs of files as resources: "file:///src/a%20b.txt" is the path "src/a b.txt" in the workspace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::server {

// The path of a file:/// URI, percent-decoded; none when it is no such URI or not UTF-8. And back.
std::optional<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

}  // namespace quire::server
