// The writing half of DiskFiles. A save writes a draft beside the file, syncs it, exchanges the two
// names in one step (renameat2, RENAME_EXCHANGE) and then checks the displaced file: if its bytes
// are not the expected ones, another program changed it in between, and the exchange is undone. So
// the path always holds all of one version, a concurrent change is never lost, and a crash leaves
// at worst a draft, which sweep() recovers. Two fsyncs and one rename per save.
#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/concat.h"
#include "fs/disk_files.h"
#include "fs/draft_names.h"

namespace quire::fs {
namespace {

Failure disk_changed(std::string_view path, std::string_view what) {
    return fail(Errc::conflict, "disk_changed",
                cat(path, " was ", what,
                    " on disk since it was read, so it was not saved. Read it again: the change ",
                    "on disk is then merged with yours"));
}

Failure metadata_lost(std::string_view path, std::string_view what, int error) {
    return fail(
        Errc::denied, "metadata_lost",
        cat(path, " was not saved: its ", what, " cannot be kept (", std::strerror(error), ")"));
}

// All bytes of an open file, or more than `limit`; without a limit as many as the file had when it
// was looked at, and one more if there are.
Result<std::string> bytes_of(int fd, std::string_view path,
                             std::optional<std::size_t> limit = std::nullopt) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) return system_failure(errno, path, "cannot look at");
    if (::lseek(fd, 0, SEEK_SET) != 0) return system_failure(errno, path, "cannot read");
    const auto size = static_cast<std::size_t>(status.st_size);
    return read_all(fd, size, limit.value_or(size), path);
}

// Bytes that were added after the size was read are not the expected bytes either.
Result<Hash> hash_of(int fd, std::string_view path) {
    return Hash::of(TRY(bytes_of(fd, path)));
}

Result<void> sync(int fd, std::string_view path) {
    if (::fsync(fd) != 0) return system_failure(errno, path, "cannot sync");
    return {};
}

// Nothing if the file lacks the attribute or the file system does not support it.
std::optional<std::string> attribute(int fd, const char* name) {
    const ssize_t size = ::fgetxattr(fd, name, nullptr, 0);
    if (size < 0) return std::nullopt;
    std::string value(static_cast<std::size_t>(size), '\0');
    const ssize_t got = ::fgetxattr(fd, name, value.data(), value.size());
    if (got < 0) return std::nullopt;
    value.resize(static_cast<std::size_t>(got));
    return value;
}

// Copies extended attributes, access lists among them.
Result<void> copy_attributes(int from, int to, std::string_view path) {
    const ssize_t size = ::flistxattr(from, nullptr, 0);
    if (size < 0 && errno != ENOTSUP)
        return system_failure(errno, path, "cannot list the attributes of");
    if (size <= 0) return {};
    std::string names(static_cast<std::size_t>(size), '\0');
    const ssize_t got = ::flistxattr(from, names.data(), names.size());
    if (got < 0) return system_failure(errno, path, "cannot list the attributes of");
    names.resize(static_cast<std::size_t>(got));
    for (std::size_t at = 0; at < names.size();) {
        const std::string name(names.c_str() + at);
        at += name.size() + 1;
        const auto value = attribute(from, name.c_str());
        if (!value) return metadata_lost(path, cat("attribute ", name), errno);
        if (attribute(to, name.c_str()) == value)
            continue;  // For example a security label that every file gets here.
        if (::fsetxattr(to, name.c_str(), value->data(), value->size(), 0) != 0) {
            return metadata_lost(path, cat("attribute ", name), errno);
        }
    }
    return {};
}

// Copies owner, attributes and mode, in an order in which no step undoes another.
Result<void> keep_metadata(int from, const struct stat& old, int to, std::string_view path,
                           std::vector<std::string>& notes) {
    struct stat draft = {};
    if (::fstat(to, &draft) != 0) return system_failure(errno, path, "cannot look at the draft of");
    if ((draft.st_uid != old.st_uid || draft.st_gid != old.st_gid) &&
        ::fchown(to, old.st_uid, old.st_gid) != 0) {
        return metadata_lost(path, "owner", errno);
    }
    TRY(copy_attributes(from, to, path));
    if ((old.st_mode & (S_ISUID | S_ISGID)) != 0) {
        notes.emplace_back(
            "its set-user-id and set-group-id bits were dropped, because its content changed");
    }
    if (::fchmod(to, old.st_mode & 01777) != 0) return metadata_lost(path, "mode", errno);
    return {};
}

// The displaced file by its descriptor. Its name is gone, so only what had it open can change it.
class DiskDisplaced final : public Displaced {
public:
    DiskDisplaced(Fd fd, std::string path, std::string bytes)
        : fd_(std::move(fd)), path_(std::move(path)), known_(std::move(bytes)) {
        ::fstat(fd_.get(), &seen_);
    }

    Result<std::optional<std::string>> changed(std::size_t limit, bool thorough) override {
        struct stat now = {};
        if (::fstat(fd_.get(), &now) != 0) return system_failure(errno, path_, "cannot look at");
        const bool is_touched = now.st_size != seen_.st_size ||
                                now.st_mtim.tv_sec != seen_.st_mtim.tv_sec ||
                                now.st_mtim.tv_nsec != seen_.st_mtim.tv_nsec;
        if (!is_touched && !thorough) return std::optional<std::string>();
        std::string bytes = TRY(bytes_of(fd_.get(), path_, limit));
        if (bytes.size() > limit) {
            return fail(Errc::out_of_range, "too_large",
                        cat(path_, " has more than ", limit, " bytes"), {{"limit", limit}});
        }
        seen_ = now;
        if (bytes == known_) return std::optional<std::string>();
        return std::optional(std::move(bytes));
    }
    const std::string& known() const override { return known_; }
    void accept(std::string bytes) override { known_ = std::move(bytes); }

    bool is_being_written() const override {
        struct stat now = {};
        constexpr std::int64_t kJustNow = 200'000'000;
        return ::fstat(fd_.get(), &now) == 0 && writers_of(fd_.get()) == Writers::some &&
               age_of(now) < kJustNow;
    }

private:
    Fd fd_;
    std::string path_;
    std::string known_;
    struct stat seen_ = {};  // The status when the file was last read.
};

}  // namespace

// The file under its temporary name.
class DiskFiles::Draft {
public:
    Draft(int parent, std::string name, Fd fd)
        : parent_(parent), name_(std::move(name)), fd_(std::move(fd)) {}
    Draft(Draft&& other) noexcept
        : parent_(std::exchange(other.parent_, -1)),
          name_(std::move(other.name_)),
          fd_(std::move(other.fd_)) {}
    Draft& operator=(Draft&&) = delete;
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        if (parent_ >= 0) ::unlinkat(parent_, name_.c_str(), 0);
    }

    int fd() const { return fd_.get(); }
    const std::string& name() const { return name_; }
    void keep() { parent_ = -1; }

private:
    int parent_;
    std::string name_;
    Fd fd_;
};

std::string DiskFiles::draft_name() {
    return fs::draft_name(options_.incarnation,
                          drafts_.with([](std::uint64_t& number) { return number++; }));
}

// A draft lies beside the file, since renames do not cross file systems.
Result<DiskFiles::Draft> DiskFiles::write_draft(int parent, std::string_view bytes, mode_t mode,
                                                std::string_view path) {
    std::string name = draft_name();
    Fd fd = TRY(open_beneath(parent, name, O_WRONLY | O_CREAT | O_EXCL, mode));
    Draft draft(parent, std::move(name), std::move(fd));
    TRY(write_all(draft.fd(), bytes, path));
    return draft;
}

// Steps: check the old bytes, write the draft with the old file's properties, exchange, check what
// was displaced, sync the directory.
Result<Saved> DiskFiles::save(const std::string& path, std::string_view bytes,
                              const Hash& expected) {
    TRY(check_attached());
    const auto [directory, name] = split(path);
    const Fd parent = TRY(open_beneath(root_.get(), directory, O_RDONLY | O_DIRECTORY));
    auto opened = open_file(parent.get(), name, path);
    if (!opened && opened.error().code() == Errc::not_found) return disk_changed(path, "deleted");
    if (!opened) return Failure(std::move(opened).error());
    const Fd old = std::move(*opened);
    struct stat status = {};
    if (::fstat(old.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
    if (status.st_nlink > 1) {
        return fail(
            Errc::conflict, "hard_linked",
            cat(path, " was not saved: the file has ", static_cast<std::uint64_t>(status.st_nlink),
                " names (hard links), and a save would separate them. Copy it to a file of its own "
                "first"));
    }
    // This check saves the work in the usual case of a conflict. The one that counts is made after
    // the exchange.
    if (TRY(hash_of(old.get(), path)) != expected) return disk_changed(path, "changed");
    step("checked");

    Draft draft = TRY(write_draft(parent.get(), bytes, 0600, path));
    step("written");
    Saved saved;
    // The draft was made for its owner alone: it gets the file's mode only when it is complete, so
    // nobody reads what they may not.
    TRY(keep_metadata(old.get(), status, draft.fd(), path, saved.notes));
    TRY(sync(draft.fd(), path));
    step("synced");

    if (rename_exchange(parent.get(), draft.name(), name) != 0) {
        if (errno == ENOENT) return disk_changed(path, "deleted");
        if (errno == EINVAL) {
            return fail(Errc::unsupported, "unsupported_filesystem",
                        cat(path,
                            " was not saved: its file system cannot exchange two files "
                            "(renameat2), without ",
                            "which another program's change could be overwritten unseen"));
        }
        return system_failure(errno, path, "cannot save");
    }
    step("exchanged");
    // The draft's name now holds the displaced file: it may have changed or been replaced since the
    // check.
    auto displaced = open_file(parent.get(), draft.name(), path);
    auto former = displaced ? bytes_of(displaced->get(), path)
                            : Result<std::string>(Failure(displaced.error()));
    if (!former || Hash::of(*former) != expected) {
        TRY(put_back(parent.get(), draft, name, path));
        if (!former) return Failure(std::move(former).error());
        return disk_changed(path, "changed");
    }
    ::unlinkat(parent.get(), draft.name().c_str(), 0);
    // Nobody can open it any more; so if no one has it open for writing, its bytes are final.
    if (writers_of(displaced->get()) != Writers::none)
        saved.displaced =
            std::make_shared<DiskDisplaced>(std::move(*displaced), path, std::move(*former));
    TRY(sync(parent.get(), path));
    step("done");
    if (::fstat(draft.fd(), &status) != 0) return system_failure(errno, path, "cannot look at");
    draft.keep();
    saved.hash = Hash::of(bytes);
    saved.stamp = stamp_of(status);
    return saved;
}

std::string DiskFiles::recover(int parent, const std::string& name) {
    const std::string folder = ".quire/recovered";
    const auto keep = make_parents(folder);
    if (!keep || rename_noreplace(parent, name, keep->get(), name) != 0) return name;
    return cat(folder, "/", name);
}

// Undoes an exchange. If yet another file was put in place meanwhile, that one is the newest and
// goes back; the version that we displaced first is then kept in .quire/recovered, so that it is not
// lost.
Result<void> DiskFiles::put_back(int parent, Draft& draft, const std::string& name,
                                 const std::string& path) {
    struct stat ours = {};
    struct stat now = {};
    if (rename_exchange(parent, draft.name(), name) != 0 || ::fstat(draft.fd(), &ours) != 0 ||
        ::fstatat(parent, draft.name().c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) {
        const int error = errno;
        draft.keep();
        return system_failure(error, path,
                              cat("its former content is kept as ", recover(parent, draft.name()),
                                  "; cannot put back"));
    }
    if (ours.st_ino != now.st_ino || ours.st_dev != now.st_dev) {
        rename_exchange(parent, draft.name(), name);
        draft.keep();
        return fail(Errc::conflict, "disk_changed",
                    cat(path, " is being replaced over and over; one of its versions is kept as ",
                        recover(parent, draft.name())));
    }
    return sync(parent, path);
}

// A rename that never replaces: if another program created the file first, the call fails.
Result<Saved> DiskFiles::create(const std::string& path, std::string_view bytes) {
    TRY(check_attached());
    const auto [directory, name] = split(path);
    const Fd parent = TRY(make_parents(directory));
    Draft draft = TRY(write_draft(parent.get(), bytes, 0666, path));
    step("written");
    TRY(sync(draft.fd(), path));
    step("synced");
    if (rename_noreplace(parent.get(), draft.name(), parent.get(), name) != 0) {
        if (errno == EEXIST) {
            return fail(Errc::conflict, "file_exists",
                        cat(path, " exists already; read it and edit it, or choose another name"));
        }
        if (errno == EINVAL) {
            return fail(Errc::unsupported, "unsupported_filesystem",
                        cat(path,
                            " was not created: its file system cannot rename without replacing "
                            "(renameat2)"));
        }
        return system_failure(errno, path, "cannot create");
    }
    draft.keep();
    TRY(sync(parent.get(), path));
    step("done");
    struct stat status = {};
    if (::fstat(draft.fd(), &status) != 0) return system_failure(errno, path, "cannot look at");
    return Saved{Hash::of(bytes), stamp_of(status), {}, nullptr};
}

// The file is renamed aside first, so that what is checked is what is deleted.
Result<void> DiskFiles::remove(const std::string& path, const Hash& expected) {
    TRY(check_attached());
    const auto [directory, name] = split(path);
    const Fd parent = TRY(open_beneath(root_.get(), directory, O_RDONLY | O_DIRECTORY));
    const Fd file = TRY(open_file(parent.get(), name, path));
    if (TRY(hash_of(file.get(), path)) != expected) return disk_changed(path, "changed");
    step("checked");
    // Renames the file aside, checks its bytes, and only then deletes it.
    const std::string aside = draft_name();
    if (rename_noreplace(parent.get(), name, parent.get(), aside) != 0) {
        return system_failure(errno, path, "cannot delete");
    }
    step("aside");
    auto moved = open_file(parent.get(), aside, path);
    auto hash = moved ? hash_of(moved->get(), path) : Result<Hash>(Failure(moved.error()));
    if (!hash || *hash != expected) {
        if (rename_noreplace(parent.get(), aside, parent.get(), name) != 0) {
            return fail(Errc::conflict, "disk_changed",
                        cat(path,
                            " was replaced on disk while it was being deleted; its content is "
                            "kept as ",
                            recover(parent.get(), aside)));
        }
        return disk_changed(path, "changed");
    }
    if (::unlinkat(parent.get(), aside.c_str(), 0) != 0)
        return system_failure(errno, path, "cannot delete");
    TRY(sync(parent.get(), path));
    step("done");
    return {};
}

}  // namespace quire::fs
