// The URIs of files as resources: "file:///src/a%20b.txt" is the path "src/a b.txt" in the
// workspace. A URI with a host, file://HOST/PATH, is none of these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::server {

// The path of a file:/// URI, percent-decoded; none when it is no such URI, is badly encoded or not
// UTF-8. And back: '/' and what RFC 3986 allows in a path stay, all else is encoded. The path is
// not judged here: it may be empty or lead out of the workspace, and its reader refuses that.
std::optional<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

}  // namespace quire::server
