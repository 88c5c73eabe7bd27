"""What Alembic runs: the migrations, on the connection that migrate.py hands over, inside its transaction."""

from alembic import context

from panelist.collection.store.database.tables import metadata


def run() -> None:
    """Run the migrations that are due."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    context.run_migrations()


if hasattr(context, "config"):  # Alembic is running this file; for anybody else there is nothing to do
    run()
