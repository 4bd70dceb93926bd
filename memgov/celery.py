"""The Celery application: worker and beat.  What runs when is `memory.schedule`."""

import os

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memgov.settings")

from memgov.heartbeat import start_worker_heartbeat
from memory.schedule import BEAT_SCHEDULE

app = Celery("memgov")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = BEAT_SCHEDULE
app.autodiscover_tasks(["memory"])
worker_ready.connect(start_worker_heartbeat)
