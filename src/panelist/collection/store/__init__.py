"""The store: what was collected, in SQLite beside the study or in PostgreSQL. The only folder that knows SQL.

``open_store`` in store.py is the entry point. What is written is an operation (ops.py), handed to the one
writing thread of the process (writer.py), which commits whatever has come in together.
"""
