"""Django's own checks for `make test`: models without migrations, unsafe migrations, unsafe settings.

Runs on throw-away servers of its own, whatever the environment says, and touches nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys

from memgov.embedded.servers import EmbeddedServers

CHECKS = (
    ["manage.py", "migrate", "--database", "owner", "--verbosity", "0"],
    ["manage.py", "makemigrations", "--check", "--dry-run"],
    ["scripts/lint_migrations.py"],
    ["manage.py", "check", "--deploy", "--fail-level", "WARNING", "--database", "default"],
)


def main() -> int:
    """Run all of them; 1 when one has failed."""
    with EmbeddedServers.temporary() as servers:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "memgov.settings",
            "DATABASE_URL": servers.app_url,
            "MIGRATION_DATABASE_URL": servers.owner_url,
            "REDIS_URL": servers.redis_url,
            "MEMGOV_DATA_DIR": str(servers.data_dir),
            "MEMGOV_PUBLIC_URL": "https://memgov.example",
            "MEMGOV_ALLOWED_HOSTS": "memgov.example",
        }
        failed = []
        for check in CHECKS:
            print(*check, flush=True)
            if subprocess.run([sys.executable, *check], env=environment, check=False).returncode != 0:
                failed.append(" ".join(check))
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
