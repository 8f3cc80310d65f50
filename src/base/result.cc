// Errors are built out of line, so that a function with many of them stays small. Copying an error
// copies its body; a moved-from error has none and may only be assigned to or destroyed.
#include "base/result.h"

namespace quire {

Error::Error(Errc code, std::string reason, std::string message, Map details)
    : body_(std::make_unique<Body>(
          Body{code, std::move(reason), std::move(message), std::move(details)})) {}

Error::Error(const Error& other) : body_(std::make_unique<Body>(*other.body_)) {}

Error& Error::operator=(const Error& other) {
    if (this != &other) body_ = std::make_unique<Body>(*other.body_);
    return *this;
}

Error Error::within(std::string_view context) && {
    body_->message.insert(0, std::string(context) + ": ");
    return std::move(*this);
}

Failure fail(Errc code, std::string reason, std::string message, Map details) {
    return Failure(Error(code, std::move(reason), std::move(message), std::move(details)));
}

Failure invalid(std::string reason, std::string message, Map details) {
    return fail(Errc::invalid_argument, std::move(reason), std::move(message), std::move(details));
}

Failure corrupt(std::string message, Map details) {
    return fail(Errc::corrupt, "corrupt", std::move(message), std::move(details));
}

}  // namespace quire
