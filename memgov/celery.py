"""The Celery application: worker and beat.  The schedule lives beside the tasks it starts."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")

app = Celery("memgov")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["memory"])
