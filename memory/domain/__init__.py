"""The rules of memgov as pure functions and values.

No Django, no I/O and no clock lives here: time, identity and look-ups are passed in, so that every rule
can be tested in milliseconds and used from the command line without a server.
"""
