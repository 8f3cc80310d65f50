#include "server/file_uri.h"

#include "base/concat.h"
#include "base/utf8.h"
#include "text/escape.h"

namespace quire::server {
namespace {

constexpr std::string_view kFileScheme = "file:///";

}  // namespace

std::optional<std::string> path_of_uri(std::string_view uri) {
    if (!uri.starts_with(kFileScheme)) return std::nullopt;
    std::optional<std::string> path = text::percent_decoded(uri.substr(kFileScheme.size()));
    if (path && !utf8::is_valid(*path)) return std::nullopt;
    return path;
}

std::string uri_of_path(std::string_view path) {
    return cat(kFileScheme, text::percent_encoded(path, "-._~/!$&'()*+,;=:@"));
}

}  // namespace quire::server
