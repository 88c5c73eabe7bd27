"""The tables of a study's database: the same on SQLite and on PostgreSQL.

Times are seconds since 1970 (UTC), JSON is text, and nothing in ``answers``, ``events`` and ``actions`` is
ever changed: what happened later is a later row. A change here needs a migration beside the others.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    and_,
    text,
)

STEPS = (
    *("invited", "consent", "background", "sound", "instructions", "examples", "comprehension"),
    *("practice", "rating", "waiting", "comments"),
)
"""The states of a visit that goes on, in order; ``waiting`` is between two occasions."""
FREEING = ("declined", "screened_out", "released", "excluded")
"""The ends that free the place of a visit."""
ENDS = ("finished", *FREEING)
STATES = (*STEPS, *ENDS)
STUDY_STATES = ("open", "paused", "closed")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows automatically only where the type is spelt INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("salt", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created", Double, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("hash", Text, nullable=False),
    Column("made", Double, nullable=False),
    Column("table", LargeBinary, nullable=False),  # plan.csv, gzipped
    Column("about", Text, nullable=False),  # plan.json
    Column("note", Text, nullable=False),
)

study_versions = Table(
    "study_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("hash", Text, nullable=False),
    Column("made", Double, nullable=False),
    Column("declared", Text, nullable=False),  # what the study decides, and a digest of each output
    Column("note", Text, nullable=False),  # what had changed, and what of it was allowed by name
)

visits = Table(
    "visits",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("token", Text, nullable=False),
    Column("place", Text),
    Column("grp", Text, nullable=False),
    Column("outside_id", Text),
    Column("params", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("occasion", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("opened", Double),
    Column("seen", Double),
    Column("ended", Double),
    Column("left_at", Text, nullable=False),  # the state in which an ended visit was before
    Column("reason", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("valid", Boolean, nullable=False),
    Column("created", Double, nullable=False),
    Column("moved", Double),  # when the visit came to where it is
    UniqueConstraint("token"),
)

# Spelt as constants: a partial index takes no parameters, and a query uses it only where it says the same.
HOLDS = and_(
    visits.c.place.is_not(None), text("state NOT IN ('declined', 'screened_out', 'released', 'excluded')")
)
"""Whether a visit holds its place: it is in progress, or it is finished and counts."""

Index("one_visit_holds_a_place", visits.c.place, unique=True, sqlite_where=HOLDS, postgresql_where=HOLDS)
_KNOWN = visits.c.outside_id.is_not(None)
Index("one_visit_a_person", visits.c.outside_id, unique=True, sqlite_where=_KNOWN, postgresql_where=_KNOWN)

answers = Table(
    "answers",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("visit", _Number, ForeignKey("visits.id"), nullable=False),
    Column("occasion", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("criterion", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("phase", Text, nullable=False),
    Column("check_name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("given", Double, nullable=False),
    Column("seconds_first", Double),
    Column("seconds", Double),
    Column("changes", Integer, nullable=False),
    Column("raw", Double),
    Column("width", Integer),
    Column("late", Boolean, nullable=False),
    UniqueConstraint("visit", "occasion", "page", "name", "key"),
    UniqueConstraint("visit", "occasion", "page", "name", "revision"),
)

pages_done = Table(
    "pages_done",
    metadata,
    Column("visit", _Number, ForeignKey("visits.id"), nullable=False),
    Column("occasion", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("shown", Double),
    Column("done", Double, nullable=False),
    Column("seconds", Double),
    Column("facts", Text, nullable=False, server_default=""),  # what the page noticed, as JSON
    PrimaryKeyConstraint("visit", "occasion", "page"),
)

events = Table(
    "events",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("visit", _Number, ForeignKey("visits.id"), nullable=False, index=True),
    Column("time", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("key", Text, nullable=False),
    UniqueConstraint("key"),
)

actions = Table(
    "actions",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("time", Double, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("key", Text, nullable=False),
    UniqueConstraint("key"),
)

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("panel", Text, nullable=False),
    Column("grp", Text, nullable=False),
    Column("outside_id", Text, nullable=False),  # what the panel calls its study
    Column("status", Text, nullable=False),
    Column("places", Integer, nullable=False),
    Column("reward", Integer, nullable=False),  # in pence or cents
    Column("minutes", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    UniqueConstraint("panel", "grp"),
)

recruits = Table(
    "recruits",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("submission", Text, nullable=False),
    Column("campaign", Text, nullable=False),  # the outside id of the study there
    Column("visit", _Number, ForeignKey("visits.id")),
    Column("status", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("started", Double),
    Column("bonus", Integer, nullable=False),  # paid so far, as the panel says, in pence or cents
    Column("changed", Double, nullable=False),
    UniqueConstraint("submission"),
)

payments = Table(
    "payments",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("key", Text, nullable=False),  # what is paid for which submission: never twice
    Column("submission", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("batch", Text, nullable=False),
    Column("claim", Text, nullable=False),  # who is working on it
    Column("claimed", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Column("detail", Text, nullable=False),
    UniqueConstraint("key"),
)

hook_events = Table(
    "hook_events",
    metadata,
    Column("event", Text, nullable=False),
    Column("time", Double, nullable=False),
    PrimaryKeyConstraint("event"),
)
