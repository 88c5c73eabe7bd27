"""The database itself: engines, tables, statements, migrations, copies."""
