"""``python -m panelist`` is the ``panelist`` command, for where the folder of commands is not on the path."""

from panelist.cli.main import main

if __name__ == "__main__":
    main()
