"""The schema: one whichever way it came to be, older ones migrated whole or not at all, newer ones refused."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import textwrap

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from ledger_support import Shelf
from sqlalchemy import inspect

from amem.errors import LedgerTooNew, LedgerUnavailable
from amem.model import Cause
from amem.store import schema
from amem.store.database import Database
from amem.store.migrations.upgrade import SCRIPTS, upgrade
from amem.store.plan import Change, Plan

NEXT = f"{int(schema.HEAD) + 1:04}"
BEFORE_THE_FIRST = """CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)"""


def run(path, *statements):
    with sqlite3.connect(path) as raw:
        found = [raw.execute(statement).fetchall() for statement in statements]
    raw.close()
    return found


def dump(path):
    """All that a database file says."""
    raw = sqlite3.connect(path)
    found = sorted(raw.iterdump())
    raw.close()
    return found


@pytest.fixture
def migrated(tmp_path):
    """A database that migrations made from nothing."""
    path = tmp_path / "migrated.db"
    run(path, BEFORE_THE_FIRST)
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture
def next_scripts(tmp_path):
    """Our migrations and one more, with the given body."""

    def written(body):
        scripts = tmp_path / "scripts"
        shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        lines = [
            "import sqlalchemy as sa",
            "from alembic import op",
            f"revision, down_revision, branch_labels, depends_on = {NEXT!r}, {schema.HEAD!r}, None, None",
            "def upgrade():",
            textwrap.indent(textwrap.dedent(body), "    "),
        ]
        (scripts / "versions" / f"{NEXT}_next.py").write_text("\n".join(lines))
        return scripts

    return written


def shape(database):
    """Tables, columns, keys and indexes."""
    seen = inspect(database.engine)
    with database.reading() as connection:
        made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all()
    special = {name: ("AUTOINCREMENT" in sql, "WITHOUT ROWID" in sql, "fts5" in sql and sql) for name, sql in made}
    return {
        table: {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], c["default"], c["primary_key"])
                for c in seen.get_columns(table)
            ],
            "key": seen.get_pk_constraint(table),
            "foreign": sorted(seen.get_foreign_keys(table), key=str),
            "unique": sorted(seen.get_unique_constraints(table), key=str),
            "indexes": sorted(map(with_conditions, seen.get_indexes(table)), key=str),
            "special": special[table],
        }
        for table in seen.get_table_names()
    }


def with_conditions(index):
    """An index with its condition in words, so that two of them can be compared."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return {**index, "dialect_options": options}


def test_tables_made_at_once_and_by_migrations_are_the_same(shelf, migrated):
    made, grown = shape(shelf.ledger.database), shape(migrated)
    fts = {table for table in made if table.startswith("note_fts")}
    assert {t: s for t, s in made.items() if t not in fts} == {t: s for t, s in grown.items() if t not in fts}
    assert fts == {table for table in grown if table.startswith("note_fts")}
    assert made["note_fts"]["special"][2].split("USING")[1] == grown["note_fts"]["special"][2].split("USING")[1]


def test_alembic_finds_no_difference_between_the_migrations_and_the_tables(migrated):
    with migrated.reading() as connection:
        about = {"include_name": lambda name, kind, _: kind != "table" or not name.startswith("note_fts")}
        context = MigrationContext.configure(connection, opts=about)
        assert compare_metadata(context, schema.metadata) == []


def test_the_newest_migration_is_the_one_the_tables_stand_at():
    assert ScriptDirectory(str(SCRIPTS)).get_heads() == [schema.HEAD]


def test_an_older_ledger_is_migrated_where_it_is_and_works(tmp_path):
    run(tmp_path / "ledger.db", BEFORE_THE_FIRST, "CREATE TABLE mine (a)", "INSERT INTO mine VALUES (7)")
    shelf = Shelf(tmp_path)
    note = shelf.build(shelf.add("bread oven"), context="Baking.")
    assert shelf.get(note) == note
    assert shelf.holding("baking")
    shelf.close()
    assert run(tmp_path / "ledger.db", "SELECT a FROM mine", "SELECT version_num FROM alembic_version") == [
        [(7,)],
        [(schema.HEAD,)],
    ]


def test_notes_of_a_ledger_without_kinds_are_plain_notes(tmp_path):
    shelf = Shelf(tmp_path)
    note = shelf.build(shelf.add("bread oven"), context="Baking.")
    shelf.close()
    without = ["DROP INDEX ix_note_box_kind", *(f"ALTER TABLE note DROP COLUMN {name}" for name in ("kind", "about"))]
    without += ["DROP INDEX ix_note_superseded_by", "ALTER TABLE revision DROP COLUMN agent_id"]
    run(tmp_path / "ledger.db", *without, "UPDATE alembic_version SET version_num = '0001'")
    migrated = Shelf(tmp_path)
    assert migrated.get(note) == note
    assert (migrated.get(note).kind, migrated.sql("SELECT kind, about FROM note")) == ("note", [("note", None)])
    migrated.close()


def test_revisions_of_a_ledger_without_agents_are_nobody_s_and_new_ones_are_signed(tmp_path):
    shelf = Shelf(tmp_path)
    note = shelf.build(shelf.add("bread oven"), context="Baking.")
    shelf.close()
    run(
        tmp_path / "ledger.db",
        "DROP INDEX ix_note_superseded_by",
        "ALTER TABLE revision DROP COLUMN agent_id",
        "UPDATE alembic_version SET version_num = '0002'",
    )
    migrated = Shelf(tmp_path)
    change = Change(note_id=note.id, expected_version=None, fields={"tags": ["x"]}, cause=Cause(kind="user"))
    migrated.commit(Plan(box=note.box, at=note.created_at, changes=(change,), agent_id="planner"))
    causes = [revision.cause for revision in migrated.ledger.revisions(note.box, note_id=note.id)]
    assert [(cause.kind, cause.agent_id) for cause in causes] == [("build", None), ("user", "planner")]
    migrated.close()


def test_a_migration_may_make_a_table_anew_without_losing_what_refers_to_it(shelf, next_scripts):
    one, other = shelf.build(shelf.add("bread"), context="Baking."), shelf.ready("oven")
    links = shelf.link(one, other).links
    before = {name: sorted(rows) for name, rows in shelf.tables().items() if name not in {"note", "alembic_version"}}
    scripts = next_scripts(
        """
        kept = {"sqlite_autoincrement": True}  # or deleted notes' row ids would be given again
        with op.batch_alter_table("note", recreate="always", table_kwargs=kept) as batch:
            batch.add_column(sa.Column("mood", sa.Text()))
        op.execute("UPDATE note SET mood = 'glad'")
        """
    )
    with shelf.ledger.database.migrating() as connection:
        upgrade(connection, NEXT, scripts)
    assert shelf.get(one) == one
    assert shelf.ledger.links_of([one.id]) == list(links)
    after = shelf.tables()
    assert {name: sorted(after[name]) for name in before} == before
    assert shelf.sql("SELECT DISTINCT mood FROM note") == [("glad",)]
    assert shelf.sql("PRAGMA foreign_keys") == [(1,)]
    assert shelf.sql("PRAGMA foreign_key_check") == []


def test_a_migration_that_fails_leaves_the_file_as_it_was(shelf, next_scripts, tmp_path):
    shelf.ready("bread")
    before = dump(shelf.path)
    scripts = next_scripts(
        """
        op.create_table("extra", sa.Column("a", sa.Integer()))
        op.execute("UPDATE note SET content = 'spoiled'")
        with op.batch_alter_table("note", recreate="always") as batch:
            batch.drop_column("context")
        op.execute("SELECT * FROM nothing_of_that_name")
        """
    )
    with (
        pytest.raises(LedgerUnavailable, match=r"could not be migrated.*nothing_of_that_name.*Nothing of this change"),
        shelf.ledger.database.migrating() as connection,
    ):
        upgrade(connection, NEXT, scripts)
    assert dump(shelf.path) == before
    assert shelf.ready("more").status == "ready"


def test_a_ledger_whose_migration_fails_is_not_opened_and_stays_as_it_was(tmp_path):
    path = tmp_path / "ledger.db"
    run(path, BEFORE_THE_FIRST, "CREATE TABLE revision (not_ours)")  # the first migration stumbles over it, halfway
    before = dump(path)
    with pytest.raises(LedgerUnavailable, match="could not be migrated: table revision already exists"):
        Database(f"sqlite:///{path}")
    assert dump(path) == before


@pytest.mark.parametrize("version", [NEXT, "9999", "f00dfacecafe"])
def test_a_ledger_of_a_newer_amem_is_refused_and_left_alone(tmp_path, version):
    Shelf(tmp_path).close()
    run(tmp_path / "ledger.db", f"UPDATE alembic_version SET version_num = '{version}'")
    before = dump(tmp_path / "ledger.db")
    said = f"has schema {version}; this amem knows up to {schema.HEAD}.*use a newer amem"
    with pytest.raises(LedgerTooNew, match=said):
        Shelf(tmp_path)
    assert dump(tmp_path / "ledger.db") == before


def test_alembic_is_loaded_only_where_a_schema_differs(tmp_path):
    code = f"""
        import sys
        from amem.store.database import Database
        for _ in range(2):
            Database({f"sqlite:///{tmp_path / 'ledger.db'}"!r}).close()
        print("alembic" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"This is no database, but it is long enough to be taken for one." * 99, "not a database"),
        (None, "unable to open"),
    ],
)
def test_what_cannot_be_opened_says_so_in_a_sentence(tmp_path, content, problem):
    path = tmp_path / "ledger.db"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(LedgerUnavailable, match=rf"the ledger sqlite:.*could not be read: .*{problem}"):
        Database(f"sqlite:///{path}")


def test_a_ledger_waits_for_a_writer_and_is_durable(shelf):
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    assert [shelf.sql(f"PRAGMA {name}")[0][0] for name in pragmas] == ["wal", 2, 1, 30_000]
