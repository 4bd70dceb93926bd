#!/bin/sh
# Run once by the database image when it makes its data: the roles of memgov/embedded/roles.sql.
set -eu
psql --set=ON_ERROR_STOP=1 --no-psqlrc --quiet --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" <<SQL
\getenv owner MEMGOV_OWNER_PASSWORD
\getenv app MEMGOV_APP_PASSWORD
SELECT set_config('memgov.owner_password', :'owner', false), set_config('memgov.app_password', :'app', false)
\g /dev/null
\i ${MEMGOV_ROLES_SQL:-/opt/memgov/roles.sql}
SQL
