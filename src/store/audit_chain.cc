// The hash covers the hash before it, so an entry vouches for all that came earlier. Numbers go
// into it as eight bytes, highest first, which makes it the same on every machine. Bodies need no
// length: what is hashed ends with them.

#include "store/audit_chain.h"

#include <algorithm>
#include <array>

#include <sha2.h>

#include "base/concat.h"

namespace quire::store {
namespace {

class Sha256 {
public:
    Sha256() { ::SHA256Init(&state_); }
    Sha256& add(std::string_view bytes) { return add(bytes.data(), bytes.size()); }
    Sha256& add(const AuditHash& hash) { return add(hash.data(), hash.size()); }
    Sha256& add(std::uint64_t number) {
        std::array<std::uint8_t, 8> bytes = {};
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
        return add(bytes.data(), bytes.size());
    }
    AuditHash end() {
        AuditHash hash = {};
        ::SHA256Final(hash.data(), &state_);
        return hash;
    }

private:
    Sha256& add(const void* bytes, std::size_t size) {
        ::SHA256Update(&state_, static_cast<const std::uint8_t*>(bytes), size);
        return *this;
    }
    SHA2_CTX state_ = {};
};

}  // namespace

AuditHash audit_origin(std::string_view workspace) {
    return Sha256().add("quire audit 1\n").add(workspace).end();
}

AuditHash audit_hash(const AuditHash& before, std::uint64_t seq, std::string_view body) {
    return Sha256().add(before).add(seq).add(body).end();
}

// The number is checked before the hash, so that a gap is named as one: behind a gap every hash is
// wrong.
std::optional<std::string> AuditWalk::take(const AuditEntry& entry) {
    if (entry.seq != count_ + 1) {
        return entry.seq > count_ + 1
                   ? cat("it comes after entry ", count_, ": what was between is missing")
                   : cat("there is a second entry of that number");
    }
    const AuditHash hash = audit_hash(head_, entry.seq, entry.body);
    if (hash != entry.hash) return "its hash does not fit what it says and the entry before it";
    head_ = hash;
    ++count_;
    return std::nullopt;
}

void append_audit(std::vector<AuditEntry>& log, const std::vector<std::string>& bodies,
                  const AuditHash& origin) {
    for (const std::string& body : bodies) {
        const AuditHash& before = log.empty() ? origin : log.back().hash;
        const std::uint64_t seq = log.size() + 1;
        log.push_back({seq, body, audit_hash(before, seq, body)});
    }
}

std::vector<AuditEntry> entries_before(const std::vector<AuditEntry>& log, std::uint64_t seq,
                                       std::size_t limit) {
    std::vector<AuditEntry> out;
    for (auto at = log.rbegin(); at != log.rend() && out.size() < limit; ++at) {
        if (at->seq < seq) out.push_back(*at);
    }
    return out;
}

std::vector<AuditEntry> entries_after(const std::vector<AuditEntry>& log, std::uint64_t seq,
                                      std::size_t limit) {
    std::vector<AuditEntry> out;
    for (const AuditEntry& entry : log) {
        if (entry.seq > seq && out.size() < limit) out.push_back(entry);
    }
    return out;
}

}  // namespace quire::store
