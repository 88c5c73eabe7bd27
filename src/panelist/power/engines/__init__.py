"""Where chunks are run: in threads of this process, or on a Dask cluster. The numbers are the same."""
