"""Makes the database and its roles in a PostgreSQL we are superuser of, by `roles.sql` beside this file."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql

DATABASE = "memgov"
ROLES_SQL = Path(__file__).with_name("roles.sql")


def ensure_database(admin_url: str, database_url: str, *, owner: str, app: str, createdb: bool) -> None:
    """Create the database when it is missing and bring roles, extensions and rights up to date.

    `admin_url` and `database_url` are a superuser's, for the database `postgres` and for memgov's own;
    `owner` and `app` are passwords; `createdb` lets the owner clone databases, as the tests do.
    """
    with psycopg.connect(admin_url, autocommit=True) as connection:
        known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    ensure_roles(database_url, owner=owner, app=app)
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE memgov_owner {'CREATEDB' if createdb else 'NOCREATEDB'}".encode())


def ensure_roles(database_url: str, *, owner: str, app: str) -> None:
    """Run `roles.sql` in a database: the roles and their passwords, its owner, rights, extensions."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT set_config('memgov.owner_password', %s, false),"
            " set_config('memgov.app_password', %s, false)",
            [owner, app],
        )
        connection.execute("SET client_min_messages = warning")
        connection.execute(ROLES_SQL.read_bytes())
