"""The first tables. Spelt out, not taken from tables.py: that file changes, this one does not."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v001"
down_revision = None

_number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_holds = sa.text("place IS NOT NULL AND state NOT IN ('declined', 'screened_out', 'released', 'excluded')")
_known = sa.text("outside_id IS NOT NULL")


def upgrade() -> None:
    """Make the tables of version 1."""
    _make_study_tables()
    _make_visits()
    _make_answers()
    _make_records()


def _needed(name: str, kind: "sa.types.TypeEngine[Any]") -> "sa.Column[Any]":
    return sa.Column(name, kind, nullable=False)


def _make_study_tables() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer),
        *(_needed(name, sa.Text()) for name in ("hash", "title", "salt", "secret", "state")),
        _needed("created", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
    )
    op.create_table(
        "plans",
        sa.Column("version", sa.Integer, autoincrement=False),
        _needed("hash", sa.Text()),
        _needed("made", sa.Double()),
        _needed("table", sa.LargeBinary()),
        _needed("about", sa.Text()),
        _needed("note", sa.Text()),
        sa.PrimaryKeyConstraint("version", name="pk_plans"),
    )


def _make_visits() -> None:
    op.create_table(
        "visits",
        sa.Column("id", _number),
        _needed("token", sa.Text()),
        sa.Column("place", sa.Text),
        _needed("grp", sa.Text()),
        sa.Column("outside_id", sa.Text),
        _needed("params", sa.Text()),
        _needed("state", sa.Text()),
        _needed("occasion", sa.Integer()),
        _needed("page", sa.Integer()),
        *(sa.Column(name, sa.Double) for name in ("opened", "seen", "ended")),
        *(_needed(name, sa.Text()) for name in ("left_at", "reason", "code")),
        _needed("valid", sa.Boolean()),
        _needed("created", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_visits"),
        sa.UniqueConstraint("token", name="uq_visits_token"),
    )
    for name, column, where in (
        ("one_visit_holds_a_place", "place", _holds),
        ("one_visit_a_person", "outside_id", _known),
    ):
        op.create_index(name, "visits", [column], unique=True, sqlite_where=where, postgresql_where=where)


def _make_answers() -> None:
    field = ("visit", "occasion", "page", "name")
    op.create_table(
        "answers",
        sa.Column("id", _number),
        _needed("visit", _number),
        _needed("occasion", sa.Integer()),
        _needed("page", sa.Integer()),
        *(_needed(name, sa.Text()) for name in ("name", "criterion", "item", "system")),
        _needed("position", sa.Integer()),
        *(_needed(name, sa.Text()) for name in ("phase", "check_name", "value")),
        _needed("revision", sa.Integer()),
        _needed("key", sa.Text()),
        _needed("given", sa.Double()),
        sa.Column("seconds_first", sa.Double),
        sa.Column("seconds", sa.Double),
        _needed("changes", sa.Integer()),
        sa.Column("raw", sa.Double),
        sa.Column("width", sa.Integer),
        _needed("late", sa.Boolean()),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
        sa.ForeignKeyConstraint(["visit"], ["visits.id"], name="fk_answers_visit"),
        *(
            sa.UniqueConstraint(*field, last, name=f"uq_answers_{'_'.join((*field, last))}")
            for last in ("key", "revision")
        ),
    )


def _make_records() -> None:
    op.create_table(
        "pages_done",
        _needed("visit", _number),
        _needed("occasion", sa.Integer()),
        _needed("page", sa.Integer()),
        sa.Column("shown", sa.Double),
        _needed("done", sa.Double()),
        sa.Column("seconds", sa.Double),
        sa.PrimaryKeyConstraint("visit", "occasion", "page", name="pk_pages_done"),
        sa.ForeignKeyConstraint(["visit"], ["visits.id"], name="fk_pages_done_visit"),
    )
    op.create_table(
        "events",
        sa.Column("id", _number),
        _needed("visit", _number),
        _needed("time", sa.Double()),
        *(_needed(name, sa.Text()) for name in ("kind", "detail", "key")),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(["visit"], ["visits.id"], name="fk_events_visit"),
        sa.UniqueConstraint("key", name="uq_events_key"),
    )
    op.create_index("ix_events_visit", "events", ["visit"])
    op.create_table(
        "actions",
        sa.Column("id", _number),
        _needed("time", sa.Double()),
        *(_needed(name, sa.Text()) for name in ("who", "what", "target", "reason", "detail", "key")),
        sa.PrimaryKeyConstraint("id", name="pk_actions"),
        sa.UniqueConstraint("key", name="uq_actions_key"),
    )
