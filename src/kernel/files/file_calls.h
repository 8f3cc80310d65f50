// FileCalls: the use cases of files, by path. Every actor who opens a path gets the same document;
// from then on it is a block like any other, and what is read, edited and undone goes the same
// ways.
//
// Files are loaded when first used. Edits stay in the document until they are saved. Errors of
// every call: those of fs::FileSystem and of the rules (FileGate::admit); unsupported
// "binary_file"; out_of_range "too_large". Replies come exactly once, from any thread; calls of one
// caller about one file take effect in the order they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/core/kernel.h"
#include "kernel/files/file_gate.h"
#include "sched/scheduler.h"
#include "text/glob.h"

namespace quire::kernel {

struct FileVersion {
    std::string path;  // Resolved: the file's own.
    std::string block_id;
    std::uint64_t version = 0;
};

struct FileRead {
    FileVersion file;
    BlockText text;
};
struct FileEdited {
    FileVersion file;
    Edited edited;
};
struct FileAppended {
    FileVersion file;
    Appended appended;
};
struct FileSaved {
    FileVersion file;
    std::size_t bytes = 0;
    bool written = false;  // False where the disk had it already.
    std::vector<std::string> notes;
};
struct FileStatus {
    FileVersion file;
    policy::Permission permission = policy::Permission::read_only;
    bool dirty = false;
    Disk disk = Disk::same;
    bool conflict = false;
};
struct FileEntry {
    std::string path;
    std::uint64_t size = 0;
    policy::Permission permission = policy::Permission::read_only;
    std::string block_id;                  // "" where it is not loaded.
    std::optional<std::uint64_t> version;  // The block's, as it is stored.
};
struct FileList {
    std::vector<FileEntry> files;
    std::size_t skipped_names = 0;  // Not UTF-8.
    bool truncated = false;
};

class FileCalls {
public:
    // Both outlive this and every call.
    FileCalls(Kernel& kernel, FileGate& gate);

    // Files whose path matches, sorted, at most `limit`.
    void list(Caller by, std::optional<text::Glob> pattern, std::size_t limit,
              Reply<FileList> reply);
    void read(Caller by, std::string path, std::optional<text::LineRange> range,
              Reply<FileRead> reply);
    // All of it, uncut.
    void text(Caller by, std::string path, Reply<WholeText> reply);
    // Like Kernel::edit().
    void edit(Caller by, std::string path, std::string operation, edits::Plan plan,
              Reply<FileEdited> reply);
    void append(Caller by, std::string path, std::string text, Reply<FileAppended> reply);
    // On the disk at once. Errors: conflict "file_exists".
    void create(Caller by, std::string path, std::string content, Reply<FileVersion> reply);
    // Errors: conflict "disk_changed" when the disk has a change of the same words, or the file is
    // gone: the change is then in the document, and saving again is the caller's decision.
    void save(Caller by, std::string path, Reply<FileSaved> reply);
    // Errors: conflict "disk_changed".
    void erase(Caller by, std::string path, Reply<FileVersion> reply);
    // Takes nothing in. Without a path: every loaded file.
    void status(Caller by, std::optional<std::string> path, Reply<std::vector<FileStatus>> reply);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
