"""The web application: pages for raters, the dashboard, and the server that carries both.

``launch.serve_study`` is the way in from the command line, ``app.make_app`` from a server of one's own.
"""
