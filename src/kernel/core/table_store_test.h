// TableStore: a store in memory for the kernel's tests. It acknowledges, refuses, damages and loses
// batches when told.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "store/audit_chain.h"
#include "store/record_map_for_test.h"
#include "store/store.h"
#include "store/text_scan_for_test.h"

namespace quire::kernel {

class TableStore final : public store::Store {
public:
    void commit(store::Batch batch, Reply<void> done) override {
        queue_.emplace_back(std::move(batch), std::move(done));
        if (!held_) flush();
    }
    Result<std::vector<store::DocumentRecord>> documents() override {
        std::vector<store::DocumentRecord> all;
        for (const auto& [key, record] : documents_) all.push_back(record);
        return all;
    }
    Result<store::StoredDocument> load(store::DocumentKey document) override {
        if (unreadable_) return fail(Errc::unavailable, "store_failed", "it cannot be read");
        ++loads_;
        return stored_[document];
    }
    Result<std::vector<store::KeyedRecord>> records(store::Table table) override {
        std::vector<store::KeyedRecord> all = store::records_of(records_, table);
        for (store::KeyedRecord& record : all) {
            record.damaged = damaged_.contains(record.key.key);
            if (record.damaged) record.body.clear();
        }
        return all;
    }
    // From now on the record of that key is not what was written.
    void damage(const std::string& key) { damaged_.insert(key); }
    Result<std::optional<Bytes>> record(const store::RecordKey& key) override {
        return store::record_at(records_, key);
    }
    bool note(std::string body) override {
        if (is_log_full_) return false;
        noted_.push_back(std::move(body));
        return true;
    }
    Result<std::vector<store::AuditEntry>> audit_before(std::uint64_t seq,
                                                        std::size_t limit) override {
        return store::entries_before(audit_, seq, limit);
    }
    Result<std::vector<store::AuditEntry>> audit_after(std::uint64_t seq,
                                                       std::size_t limit) override {
        return store::entries_after(audit_, seq, limit);
    }
    Result<store::AuditHash> audit_origin() override { return store::audit_origin("table"); }
    // Sorted by time, and those of one moment by document.
    Result<std::vector<store::UnitRecord>> recent_units(const std::string& actor,
                                                        std::size_t limit) override {
        std::vector<store::UnitRecord> units;
        for (const auto& [key, document] : stored_) {
            for (const store::UnitRecord& unit : document.units) {
                if (actor.empty() || unit.actor == actor) units.push_back(unit);
            }
        }
        std::ranges::sort(units, std::ranges::greater(), [](const store::UnitRecord& unit) {
            return std::tuple(unit.at_ms, unit.document, unit.version);
        });
        if (units.size() > limit) units.resize(limit);
        return units;
    }
    Result<store::DocumentMark> mark(store::DocumentKey document) override {
        return store::mark_of(stored_[document]);
    }
    Result<std::vector<store::BlockRecord>> whole_blocks(const std::string& kind) override {
        std::vector<store::BlockRecord> blocks;
        for (const auto& [key, record] : documents_) {
            if (record.kind != kind || record.deleted) continue;
            for (const store::BlockRecord& block : stored_[key].blocks) {
                if (block.block.empty()) blocks.push_back(block);
            }
        }
        return blocks;
    }
    Result<std::vector<store::TextHit>> search(const store::TextQuery& query) override {
        return store::scan_texts(texts_, query);
    }
    Result<std::vector<store::DocumentKey>> stale_texts(const std::string& kind) override {
        std::vector<store::DocumentKey> stale;
        for (const auto& [key, record] : documents_) {
            if (record.kind != kind) continue;
            const auto text = texts_.find(key);
            const bool there = text != texts_.end();
            const bool right = there && !stored_[key].blocks.empty() &&
                               stored_[key].blocks.front().version == text->second.version;
            if (record.deleted ? !there || !text->second.gone : !right) stale.push_back(key);
        }
        return stale;
    }
    store::DocumentKey reserve_document_key() override { return next_key_++; }
    void unfence(store::DocumentKey document) override { fenced_.erase(document); }

    // While held, batches queue until flush().
    void hold(bool held) { held_ = held; }
    void fail_next() { failing_ = true; }
    // While the disk is full, no batch with an update is kept.
    void fill(bool full) { full_ = full; }
    void fill_log(bool full) { is_log_full_ = full; }
    // So many more batches are kept, and then none, as if the program had been killed. Others may count
    // with it. Null: there is no end.
    void end_after(std::shared_ptr<std::size_t> steps) { steps_left_ = std::move(steps); }
    // For what somebody does to the log behind the store's back.
    std::vector<store::AuditEntry>& audit_log() { return audit_; }
    void refuse_loads(bool refused) { unreadable_ = refused; }
    void flush() {
        ++flushes_;
        while (!queue_.empty()) {
            auto [batch, done] = std::move(queue_.front());
            queue_.pop_front();
            done(apply(batch));
        }
    }
    std::size_t queued() const { return queue_.size(); }
    std::size_t loads() const { return loads_; }
    std::size_t updates(store::DocumentKey document) { return stored_[document].updates.size(); }

private:
    static store::DocumentKey key_of(const store::Batch& batch) {
        if (!batch.updates.empty()) return batch.updates[0].document;
        if (!batch.blocks.empty()) return batch.blocks[0].document;
        return batch.documents.empty() ? 0 : batch.documents[0].key;
    }

    bool name_is_taken(const store::DocumentRecord& record) const {
        return !record.deleted &&
               std::any_of(documents_.begin(), documents_.end(), [&](const auto& entry) {
                   const store::DocumentRecord& other = entry.second;
                   return other.key != record.key && !other.deleted && other.kind == record.kind &&
                          other.name == record.name && other.owner == record.owner;
               });
    }

    Result<void> apply(store::Batch& batch) {
        const store::DocumentKey key = key_of(batch);
        const bool failing = std::exchange(failing_, false) || (full_ && !batch.updates.empty());
        if (failing && key != 0) fenced_[key] = true;
        if (failing || fenced_.contains(key))
            return fail(Errc::unavailable, "disk_full", "the disk is full; nothing was changed");
        if (steps_left_ != nullptr) {
            if (*steps_left_ == 0) return fail(Errc::unavailable, "store_failed", "it is over");
            --*steps_left_;
        }
        const store::AuditHash origin = store::audit_origin("table");
        store::append_audit(audit_, std::exchange(noted_, {}), origin);
        store::append_audit(audit_, batch.audit, origin);
        for (auto& record : batch.documents) {
            CHECK(!name_is_taken(record));
            documents_[record.key] = record;
        }
        for (auto& record : batch.peers) stored_[record.document].peers.push_back(record);
        for (auto& record : batch.updates)
            stored_[record.document].updates.push_back(std::move(record.bytes));
        for (auto& record : batch.compactions) stored_[record.document].updates = {record.bytes};
        store::keep_texts(texts_, batch.texts);
        store::keep_records(records_, batch.records);
        for (auto& record : batch.blocks) {
            auto& blocks = stored_[record.document].blocks;
            std::erase_if(blocks, [&](const auto& other) { return other.block == record.block; });
            blocks.push_back(std::move(record));
        }
        for (auto& record : batch.units) {
            auto& units = stored_[record.document].units;
            const auto same = [&](const auto& other) {
                return other.block == record.block && other.version == record.version;
            };
            const auto at = std::find_if(units.begin(), units.end(), same);
            if (at != units.end()) {
                *at = std::move(record);
            } else {
                units.push_back(std::move(record));
            }
        }
        return {};
    }

    std::deque<std::pair<store::Batch, Reply<void>>> queue_;
    std::map<store::DocumentKey, store::DocumentRecord> documents_;
    std::map<store::DocumentKey, store::StoredDocument> stored_;
    store::RecordMap records_;
    std::set<std::string> damaged_;
    std::map<store::DocumentKey, store::TextRecord> texts_;
    std::map<store::DocumentKey, bool> fenced_;
    std::vector<std::string> noted_;
    std::vector<store::AuditEntry> audit_;
    std::shared_ptr<std::size_t> steps_left_;
    bool is_log_full_ = false;
    std::size_t loads_ = 0;
    store::DocumentKey next_key_ = 1;
    bool held_ = false;
    bool failing_ = false;
    bool full_ = false;
    bool unreadable_ = false;
    std::size_t flushes_ = 0;
};

}  // namespace quire::kernel
