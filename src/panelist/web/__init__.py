"""The web application: pages for raters, the dashboard, and the server that serves both.

``server.run`` is the entry point of the command line, ``app.make_app`` that of another server.
"""
