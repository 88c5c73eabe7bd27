"""Prolific's API: one request (client), what can be asked (endpoints), and a client that sends nothing."""
