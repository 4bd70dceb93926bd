"""The Model Context Protocol: the same calls as REST, as tools and resources of an agent's host.

There is no second rule here.  A tool is a name, a schema and words around one call of `memory.api`, which is made in
this process: the same checks, limits, idempotency, audit and answers, whatever the door.
"""
