-- The roles, schema, extensions and default rights of a memgov database.  This file is the one place:
-- the embedded servers run it at every start, docker-compose.yml when the database is made, and
-- docs for operators of their own PostgreSQL (15 or newer, pgvector 0.8 or newer) point here.
--
-- Run it as a superuser, connected to the database that memgov shall use, safe to run again:
--
--   psql -d memgov -v ON_ERROR_STOP=1 <<'SQL'
--   SELECT set_config('memgov.owner_password', '…', false), set_config('memgov.app_password', '…', false);
--   \i roles.sql
--   SQL
--
--   memgov_owner   owns the database and the tables, migrates (MIGRATION_DATABASE_URL)
--   memgov_app     serves (DATABASE_URL); owns nothing and cannot pass row-level security
--   memgov_lookup  cannot sign in; owns the few definer functions and nothing else

DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['memgov_owner', 'memgov_app', 'memgov_lookup'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I', role_name);
        END IF;
        EXECUTE format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOREPLICATION', role_name);
    END LOOP;
    EXECUTE format('ALTER ROLE memgov_owner LOGIN PASSWORD %L', current_setting('memgov.owner_password'));
    EXECUTE format('ALTER ROLE memgov_app LOGIN NOCREATEDB PASSWORD %L', current_setting('memgov.app_password'));
    EXECUTE format('ALTER DATABASE %I OWNER TO memgov_owner', current_database());
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO memgov_app', current_database());
END
$$;

ALTER ROLE memgov_lookup NOLOGIN NOCREATEDB;

-- A statement that fails, such as of a write that lost a race, holds a memory's text, and so may the detail of the
-- fault: neither belongs into a log file, which no erasure reaches.
ALTER ROLE memgov_owner SET log_min_error_statement = 'panic';
ALTER ROLE memgov_owner SET log_error_verbosity = 'terse';
ALTER ROLE memgov_app SET log_min_error_statement = 'panic';
ALTER ROLE memgov_app SET log_error_verbosity = 'terse';
-- So that a migration can give a definer function to memgov_lookup.
GRANT memgov_lookup TO memgov_owner;

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS unaccent;

CREATE SCHEMA IF NOT EXISTS memgov AUTHORIZATION memgov_owner;
GRANT USAGE ON SCHEMA public, memgov TO memgov_app;
GRANT USAGE ON SCHEMA public TO memgov_lookup;
GRANT USAGE, CREATE ON SCHEMA memgov TO memgov_lookup;

ALTER DEFAULT PRIVILEGES FOR ROLE memgov_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memgov_app;
ALTER DEFAULT PRIVILEGES FOR ROLE memgov_owner GRANT USAGE ON SEQUENCES TO memgov_app;
-- A definer function is for the app alone, not for whoever else can connect.
ALTER DEFAULT PRIVILEGES FOR ROLE memgov_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE memgov_owner GRANT EXECUTE ON FUNCTIONS TO memgov_app, memgov_lookup;
