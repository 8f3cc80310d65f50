// The file is mapped and stays so: signatures are most of it, and the system may drop their pages. It is
// replaced as a whole, by a rename, and never changed in place. A hash over all that follows the header
// is checked once, when it is mapped.
#include "kernel/files/search_index.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/write_all.h"
#include "fs/hash.h"

namespace quire::kernel {
namespace {

constexpr std::uint64_t kMagic = 0x3130'5849'4552'4951U;  // "QIREIX01", as this machine has it.

struct Header {
    std::uint64_t magic = kMagic;
    std::uint64_t bytes = 0;  // Behind the header.
    fs::Hash hash;            // Covers these.
    friend bool operator==(const Header&, const Header&) = default;
};
// Before each name, which is filled up with zeros to whole words, and its signature.
struct Record {
    TextProof proof;
    std::uint32_t name_bytes;
    std::uint32_t signature_words;
    std::uint64_t is_text;
};
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kWord = sizeof(std::uint64_t);

constexpr std::size_t whole_words(std::size_t bytes) {
    return (bytes + kWord - 1) / kWord * kWord;
}

template <class T>
void put_bytes(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::optional<TextProof> proof_of(const fs::Stamp& stamp) {
    if (!stamp.settled) return std::nullopt;
    return TextProof{static_cast<std::int64_t>(stamp.device), static_cast<std::int64_t>(stamp.inode),
                     static_cast<std::int64_t>(stamp.size), stamp.modified_ns, stamp.changed_ns};
}

TextProof proof_of(const store::DocumentMark& mark) {
    return {mark.blocks, mark.versions, 0, 0, 0};
}

class SearchIndex::Mapping {
public:
    // Null if there is no file behind the descriptor that a header fits into.
    static std::unique_ptr<Mapping> of(const Fd& fd) {
        struct stat status = {};
        if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
        const auto size = static_cast<std::size_t>(status.st_size);
        if (size < sizeof(Header)) return nullptr;
        void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
        if (at == MAP_FAILED) return nullptr;
        return std::unique_ptr<Mapping>(new Mapping(static_cast<const char*>(at), size));
    }
    Header right_header() const { return {kMagic, body().size(), fs::Hash::of(body())}; }
    bool is_whole() const {
        Header header;
        std::memcpy(&header, at_, sizeof header);
        return header == right_header();
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(const_cast<char*>(at_), size_); }

    std::string_view body() const { return {at_ + sizeof(Header), size_ - sizeof(Header)}; }

private:
    Mapping(const char* at, std::size_t size) : at_(at), size_(size) {}
    const char* at_;
    std::size_t size_;
};

SearchIndex::SearchIndex(std::size_t most_bytes) : most_bytes_(most_bytes) {}
SearchIndex::~SearchIndex() = default;

const SearchIndex::Entry* SearchIndex::find(const std::string& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second.entry;
}

const SearchIndex::Entry* SearchIndex::find(const std::string& name, const TextProof& proof) const {
    const Entry* const entry = find(name);
    return entry == nullptr || entry->proof != proof ? nullptr : entry;
}

void SearchIndex::put(const std::string& name, const TextProof& proof, bool is_text,
                      std::vector<std::uint64_t> signature) {
    ++changes_;
    const auto at = entries_.find(name);
    if (at != entries_.end()) bytes_ -= at->second.entry.signature.size_bytes();
    if (bytes_ + signature.size() * kWord > most_bytes_) {
        is_full_ = true;
        if (at != entries_.end()) entries_.erase(at);
        return;
    }
    Held& held = at != entries_.end() ? at->second : entries_[name];
    held.own = std::move(signature);
    held.entry = {proof, is_text, held.own};
    bytes_ += held.entry.signature.size_bytes();
}

void SearchIndex::keep(Function<bool(const std::string& name)> is_wanted) {
    is_full_ = false;
    changes_ += std::erase_if(entries_, [&](const auto& each) {
        if (is_wanted(each.first)) return false;
        bytes_ -= each.second.entry.signature.size_bytes();
        return true;
    });
}

void SearchIndex::load(const std::string& file) {
    auto mapping = Mapping::of(Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)));
    if (mapping != nullptr && !mapping->is_whole()) mapping = nullptr;
    take(std::move(mapping));
}

// Sizes are checked although the hash is right: the program that wrote it may have been another.
void SearchIndex::take(std::unique_ptr<Mapping> mapping) {
    entries_.clear();
    bytes_ = changes_ = 0;
    is_full_ = false;
    mapping_ = std::move(mapping);
    if (mapping_ == nullptr) return;
    std::string_view rest = mapping_->body();
    while (rest.size() >= sizeof(Record)) {
        Record record;
        std::memcpy(&record, rest.data(), sizeof record);
        rest.remove_prefix(sizeof record);
        const std::size_t name_bytes = whole_words(record.name_bytes);
        const std::size_t signature_bytes = std::size_t{record.signature_words} * kWord;
        if (name_bytes > rest.size() || signature_bytes > rest.size() - name_bytes) break;
        Held& held = entries_[std::string(rest.substr(0, record.name_bytes))];
        rest.remove_prefix(name_bytes);
        held.entry = {record.proof, record.is_text != 0,
                      {reinterpret_cast<const std::uint64_t*>(rest.data()), record.signature_words}};
        bytes_ += signature_bytes;
        rest.remove_prefix(signature_bytes);
    }
}

// The header comes last, when what it covers is written and can be read through the mapping.
Result<void> SearchIndex::save(const std::string& file) {
    const std::string draft = cat(file, ".new");
    ::unlink(draft.c_str());
    const Fd fd(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    std::unique_ptr<Mapping> written;
    if (fd && write_records(fd.get())) written = Mapping::of(fd);
    if (written != nullptr) {
        const Header header = written->right_header();
        if (::pwrite(fd.get(), &header, sizeof header, 0) == sizeof header &&
            ::rename(draft.c_str(), file.c_str()) == 0) {
            take(std::move(written));
            return {};
        }
    }
    const int error = errno;
    ::unlink(draft.c_str());
    return fail(Errc::unavailable, "file_not_writable",
                cat("the search index ", file, " cannot be written: ", std::strerror(error)),
                {{"file", file}});
}

bool SearchIndex::write_records(int fd) const {
    std::string out(sizeof(Header), '\0');
    for (const auto& [name, held] : entries_) {
        const text::Signature signature = held.entry.signature;
        put_bytes(out, Record{held.entry.proof, static_cast<std::uint32_t>(name.size()),
                              static_cast<std::uint32_t>(signature.size()),
                              held.entry.is_text ? 1U : 0U});
        out.append(name).append(whole_words(name.size()) - name.size(), '\0');
        out.append(reinterpret_cast<const char*>(signature.data()), signature.size_bytes());
        if (out.size() < kWriteBytes) continue;
        if (!write_all(fd, out)) return false;
        out.clear();
    }
    return write_all(fd, out).has_value();
}

}  // namespace quire::kernel
