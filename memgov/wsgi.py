"""The web process's entry point (gunicorn, threads)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")
application = get_wsgi_application()
