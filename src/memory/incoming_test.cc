#include "memory/incoming.h"

#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "memory/memory_desk_for_test.h"
#include "memory/templates.h"

namespace quire::memory {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

BlockSchema fields() {
    return MapSchema{{{.name = "status", .read_only = true},
                      {.name = "name", .required = true},
                      {.name = "age", .type = FieldType::number},
                      {.name = "tags", .type = FieldType::list},
                      {.name = "seen", .type = FieldType::counter}}};
}

// A replica of the block that writes what it likes, as other programs can.
struct Outside {
    explicit Outside(const BlockSchema& schema) : here(schema), there(schema, 2) {}

    crdt::Handle root(const char* name, ContainerKind kind) {
        return there.doc.open(ContainerId::root(name, kind));
    }
    Result<void> offered(const Writer& by) {
        there.doc.commit();
        const auto changes = there.doc.changes_since(here.doc.version()).changes();
        EXPECT_FALSE(changes.empty());
        const crdt::VersionVector before = here.doc.version();
        Result<void> allowed = check_incoming(here.doc, here.block, by, changes);
        EXPECT_EQ(here.doc.version(), before);
        EXPECT_FALSE(!here.doc.pending().empty());
        return allowed;
    }
    std::string offered(std::string_view actor = "agent:ada",
                        policy::Permission permission = policy::Permission::admin) {
        return reason(offered(writer(actor, permission)));
    }
    void agree() { here.meet(there); }

    MemoryDesk here;
    MemoryDesk there;
};

TEST(Incoming, OneWriteToAReadOnlyFieldRefusesTheBatch) {
    Outside outside(fields());
    ASSERT_TRUE(outside.there.edit().set_field({"", "name"}, "Ada").has_value());
    outside.there.doc.commit({.message = "fine"});
    ASSERT_TRUE(outside.there.edit("source:lsp").set_field({"", "status"}, "x").has_value());
    const auto refused = outside.offered(writer("agent:ada"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Field 'status' is read-only and cannot be modified by agent");
    EXPECT_EQ(refused.error().details(), (Map{{"field", "status"}, {"change", "1@2"}}));
    EXPECT_EQ(outside.offered("source:lsp"), "fine");
}

TEST(Incoming, ValidChangesAreAllowed) {
    Outside outside(CompositeSchema{{{"f", fields()},
                                     {"t", BlockSchema()},
                                     {"l", find_template("task_list")->schema},
                                     {"g", find_template("activity_log")->schema},
                                     {"o", BlockSchema(ListSchema{})}}});
    MemoryEdit edit = outside.there.edit();
    ASSERT_TRUE(edit.set_field({"f", "name"}, "Ada").has_value());
    ASSERT_TRUE(edit.set_text_field({"f", "name"}, "Ada Lovelace").has_value());
    ASSERT_TRUE(edit.set_field({"f", "tags"}, List{"a", Map{{"b", 1}}}).has_value());
    ASSERT_TRUE(edit.set_field({"f", "tags"}, nullptr).has_value());
    ASSERT_TRUE(edit.increment_counter({"f", "seen"}, 2).has_value());
    ASSERT_TRUE(edit.set_field({"f", "age"}, 5).has_value());
    ASSERT_TRUE(edit.set_field({"f", "age"}, nullptr).has_value());
    ASSERT_TRUE(edit.set_text("t", "one two").has_value());
    ASSERT_TRUE(edit.replace_text("t", "one", "two").has_value());
    ASSERT_TRUE(edit.push_item("l", Map{{"title", "a"}}).has_value());
    ASSERT_TRUE(edit.set_item("l", 0, Map{{"title", "b"}, {"done", true}}).has_value());
    ASSERT_TRUE(edit.append_entry("g", Map{{"event_type", "walk"}, {"description", "went well"}})
                    .has_value());
    ASSERT_TRUE(edit.push_item("o", List{1}).has_value());
    ASSERT_TRUE(edit.push_item("o", Map{{"x", Map{}}}).has_value());
    ASSERT_TRUE(edit.delete_item("o", 0).has_value());
    EXPECT_EQ(outside.offered(), "fine");
}

// The message that refuses a write from outside; "" if it is admitted.
template <class Write>
std::string refused(const BlockSchema& schema, Write write) {
    Outside outside(schema);
    MemoryEdit furnish = outside.here.edit("system:test");
    if (fields_of(schema) != nullptr && schema.as<ListSchema>() != nullptr) {
        EXPECT_TRUE(furnish.push_item("", Map{{"title", "a"}}).has_value());
    }
    if (schema.as<MapSchema>() != nullptr) {
        EXPECT_TRUE(furnish.set_field({"", "name"}, "Ada").has_value());
    }
    outside.agree();
    Result<void> written = write(outside, outside.there.doc);
    EXPECT_TRUE(written.has_value());
    return outside.offered();
}

using O = Outside;
using D = crdt::Doc;
constexpr auto kMapKind = ContainerKind::map;
constexpr auto kList = ContainerKind::list;
constexpr auto kTextKind = ContainerKind::text;
constexpr auto kCounter = ContainerKind::counter;

TEST(Incoming, InvalidChangesAreRefused) {
    EXPECT_EQ(
        refused(fields(), [](O& o, D& d) { return d.map(o.root("root", kMapKind)).set("x", 1); }),
        "field_not_found");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) { return d.map(o.root("root", kMapKind)).set("age", "1"); }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.map(o.root("root", kMapKind)).set("tags", List{}); }),
        "schema_mismatch");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) { return d.map(o.root("root", kMapKind)).set("seen", 1); }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.map(o.root("root", kMapKind)).set("age", nullptr); }),
        "schema_mismatch");
    EXPECT_EQ(
        refused(fields(), [](O& o, D& d) { return d.map(o.root("root", kMapKind)).erase("name"); }),
        "schema_mismatch");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) {
                          return without_value(
                              d.map(o.root("root", kMapKind)).insert_container("name", kTextKind));
                      }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.text(o.root("root/age", kTextKind)).insert({0}, "1"); }),
        "schema_mismatch");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.text(o.root("root/tags", kTextKind)).insert({0}, "1"); }),
        "schema_mismatch");
    EXPECT_EQ(
        refused(fields(), [](O& o, D& d) { return d.list(o.root("root/x", kList)).insert(0, 1); }),
        "field_not_found");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.list(o.root("root/tags", kList)).insert(0, Bytes{1}); }),
        "schema_mismatch");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) {
                          return without_value(
                              d.list(o.root("root/tags", kList)).insert_container(0, kMapKind));
                      }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.text(o.root("content", kTextKind)).insert({0}, "x"); }),
        "schema_mismatch");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) { return d.map(o.root("elsewhere", kMapKind)).set("x", 1); }),
              "field_not_found");
    EXPECT_EQ(
        refused(fields(),
                [](O& o, D& d) { return d.map(o.root("section:s:root", kMapKind)).set("x", 1); }),
        "section_not_found");
    EXPECT_EQ(refused(fields(),
                      [](O& o, D& d) {
                          return without_value(d.counter(o.root("root/status", kCounter)).add(1));
                      }),
              "read_only_field");
    EXPECT_EQ(refused(BlockSchema(),
                      [](O& o, D& d) { return d.list(o.root("content", kList)).insert(0, 1); }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(BlockSchema(),
                [](O& o, D& d) {
                    return without_value(d.tree(o.root("content", ContainerKind::tree)).create());
                }),
        "schema_mismatch");
}

TEST(Incoming, AnItemThatDoesNotFitIsRefused) {
    const auto tasks = find_template("task_list")->schema;
    EXPECT_EQ(
        refused(tasks, [](O& o, D& d) { return d.list(o.root("items", kList)).insert(0, "a"); }),
        "schema_mismatch");
    EXPECT_EQ(refused(tasks,
                      [](O& o, D& d) {
                          return d.list(o.root("items", kList)).insert(0, Map{{"x", 1}});
                      }),
              "field_not_found");
    EXPECT_EQ(
        refused(tasks,
                [](O& o, D& d) {
                    return without_value(d.list(o.root("items", kList)).insert_container(0, kList));
                }),
        "schema_mismatch");
    const auto item = [](O& o, D& d) { return d.open(d.list(o.root("items", kList)).child(0)); };
    EXPECT_EQ(refused(tasks, [&](O& o, D& d) { return d.map(item(o, d)).set("done", "yes"); }),
              "schema_mismatch");
    EXPECT_EQ(refused(tasks, [&](O& o, D& d) { return d.map(item(o, d)).set("x", 1); }),
              "field_not_found");
    EXPECT_EQ(refused(tasks, [&](O& o, D& d) { return d.map(item(o, d)).erase("title"); }),
              "schema_mismatch");
    EXPECT_EQ(
        refused(tasks,
                [&](O& o, D& d) {
                    return without_value(d.map(item(o, d)).insert_container("title", kTextKind));
                }),
        "schema_mismatch");
    EXPECT_EQ(refused(ListSchema{BlockSchema(), {}},
                      [](O& o, D& d) {
                          return without_value(
                              d.list(o.root("items", kList)).insert_container(0, kMapKind));
                      }),
              "schema_mismatch");
}

TEST(Incoming, AnEntryInAnothersNameIsRefused) {
    Outside outside{LogSchema{}};
    ASSERT_TRUE(outside.there.edit("agent:bob").append_entry("", "x").has_value());
    EXPECT_EQ(outside.offered("agent:ada"), "read_only_field");
    EXPECT_EQ(outside.offered("agent:bob"), "fine");
    EXPECT_EQ(outside.offered("source:log"), "fine");
}

TEST(Incoming, KnownChangesAreNotCheckedAgain) {
    Outside outside(fields());
    ASSERT_TRUE(outside.here.edit("source:lsp").set_field({"", "status"}, "x").has_value());
    outside.agree();
    ASSERT_TRUE(outside.there.edit().set_field({"", "name"}, "Ada").has_value());
    outside.there.doc.commit();
    const auto everything = outside.there.doc.changes_since({}).changes();
    EXPECT_EQ(reason(check_incoming(outside.here.doc, outside.here.block, writer("agent:ada"),
                                    everything)),
              "fine");
    EXPECT_EQ(reason(check_incoming(outside.here.doc, outside.here.block,
                                    writer("agent:ada", policy::Permission::read_only),
                                    outside.here.doc.changes_since({}).changes())),
              "fine");
}

TEST(Incoming, EveryPermissionHolds) {
    const auto offered = [](policy::Permission permission, bool appends) {
        Outside outside{BlockSchema()};
        EXPECT_TRUE(outside.here.edit().set_text("", "one").has_value());
        outside.agree();
        EXPECT_TRUE((appends ? outside.there.edit().append_text("", " two")
                             : outside.there.edit().set_text("", "two"))
                        .has_value());
        return outside.offered("agent:ada", permission);
    };
    using policy::Permission;
    for (const bool appends : {true, false}) {
        EXPECT_EQ(offered(Permission::read_only, appends), "permission_denied");
        EXPECT_EQ(offered(Permission::partner, appends), "escalation_required");
        EXPECT_EQ(offered(Permission::human, appends), "escalation_required");
        EXPECT_EQ(offered(Permission::append, appends), appends ? "fine" : "permission_denied");
        EXPECT_EQ(offered(Permission::read_write, appends), "fine");
        EXPECT_EQ(offered(Permission::admin, appends), "fine");
    }
}

TEST(Incoming, AnAppendIsOneAlsoBesideOthers) {
    const auto offered = [](auto write) {
        Outside outside(CompositeSchema{{{"t", BlockSchema()},
                                         {"l", find_template("task_list")->schema},
                                         {"g", BlockSchema(LogSchema{})},
                                         {"f", fields()}}});
        MemoryEdit edit = outside.here.edit();
        EXPECT_TRUE(edit.set_text("t", "one").has_value());
        EXPECT_TRUE(edit.push_item("l", Map{{"title", "a"}}).has_value());
        EXPECT_TRUE(edit.append_entry("g", "began").has_value());
        EXPECT_TRUE(edit.set_field({"f", "tags"}, List{"a"}).has_value());
        outside.agree();
        EXPECT_TRUE(outside.here.edit().append_text("t", " here").has_value());
        outside.here.doc.commit();
        MemoryEdit there = outside.there.edit();
        write(there);
        return outside.offered("agent:ada", policy::Permission::append);
    };
    EXPECT_EQ(offered([](MemoryEdit& e) { ASSERT_TRUE(e.append_text("t", " there").has_value()); }),
              "fine");
    EXPECT_EQ(offered([](MemoryEdit& e) {
                  ASSERT_TRUE(e.push_item("l", Map{{"title", "b"}}).has_value());
                  ASSERT_TRUE(e.set_item_field("l", 1, "done", true).has_value());
                  ASSERT_TRUE(e.append_entry("g", "ended").has_value());
                  ASSERT_TRUE(e.append_to_list({"f", "tags"}, "b").has_value());
              }),
              "fine");
    EXPECT_EQ(offered([](MemoryEdit& e) {
                  ASSERT_TRUE(e.set_item_field("l", 0, "done", true).has_value());
              }),
              "permission_denied");
    EXPECT_EQ(offered([](MemoryEdit& e) {
                  ASSERT_TRUE(e.insert_item("l", 0, Map{{"title", "b"}}).has_value());
              }),
              "permission_denied");
    EXPECT_EQ(offered([](MemoryEdit& e) { ASSERT_TRUE(e.set_text("t", "zero one").has_value()); }),
              "permission_denied");
    EXPECT_EQ(offered([](MemoryEdit& e) {
                  ASSERT_TRUE(e.increment_counter({"f", "seen"}, 1).has_value());
              }),
              "permission_denied");
    EXPECT_EQ(offered([](MemoryEdit& e) {
                  ASSERT_TRUE(e.set_field({"f", "name"}, "Ada").has_value());
              }),
              "permission_denied");
}

TEST(Incoming, LimitsHold) {
    Outside list(ListSchema{std::nullopt, 2});
    for (const char* item : {"a", "b", "c"}) {
        ASSERT_TRUE(
            list.there.doc.list(list.there.doc.open(items_of(""))).insert(0, item).has_value());
    }
    EXPECT_EQ(list.offered(), "max_items");

    Outside text{BlockSchema()};
    text.here.block.char_limit = 5;
    ASSERT_TRUE(text.there.edit().set_text("", "naïves").has_value());
    EXPECT_EQ(text.offered(), "char_limit");
    ASSERT_TRUE(text.there.edit().set_text("", "naïve").has_value());
    EXPECT_EQ(text.offered(), "fine");

    Outside map(fields());
    map.here.block.char_limit = 5;
    ASSERT_TRUE(map.there.edit().set_field({"", "name"}, "Lovelace").has_value());
    EXPECT_EQ(map.offered(), "char_limit");
}

}  // namespace
}  // namespace quire::memory
