# `make up` runs the product, `make test` proves it; both need Python 3.11 or newer and nothing else.

PORT ?= 8000
ARGS ?=
BIN := .venv/bin
PY := $(BIN)/python

# Tests and checks use servers of their own; what the shell is set up for must not reach them.
ISOLATED := env -u DATABASE_URL -u MIGRATION_DATABASE_URL -u REDIS_URL -u MEMGOV_SECRET_KEY \
	-u MEMGOV_PUBLIC_URL -u MEMGOV_ALLOWED_HOSTS -u MEMGOV_EMBEDDER -u MEMGOV_DEBUG -u DJANGO_SETTINGS_MODULE \
	MEMGOV_DATA_DIR=$(CURDIR)/.test-data

.PHONY: help client-environments screenshots messages docs docs-site up down test lint types imports checks suite format clean environment environment-dev chromium

up: environment ## the whole product on this machine
	@exec $(PY) -m memgov.cli up --port $(PORT) $(ARGS)

down: environment ## stops what `make up` started
	@exec $(PY) -m memgov.cli down $(ARGS)

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

test: environment-dev client-environments chromium lint imports types checks suite ## everything that must hold

lint: environment-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

imports: environment-dev
	$(ISOLATED) $(BIN)/lint-imports

types: environment-dev
	$(ISOLATED) $(BIN)/mypy
	cd client && ../$(BIN)/mypy

checks: environment-dev
	$(ISOLATED) $(PY) scripts/django_checks.py

suite: environment-dev client-environments chromium
	$(ISOLATED) $(PY) -m pytest -n 2 -q $(ARGS)

format: environment-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

environment:
	@sh scripts/environment.sh base

environment-dev:
	@sh scripts/environment.sh dev

client-environments: environment-dev ## the frameworks that the client's adapters are tested with
	@sh scripts/client_environments.sh

chromium: environment-dev
	@sh scripts/chromium.sh

screenshots: environment-dev chromium ## pictures of the docs, from the running product with its demo
	$(PY) scripts/screenshots.py $(ARGS)

messages: environment-dev ## the translations of the pages, brought up to date with the sources and compiled
	$(ISOLATED) $(PY) scripts/messages.py

docs: environment ## what is generated into docs/
	$(PY) scripts/generate_docs.py

docs-site: docs ## the pages of docs/ as a site, in build/docs-site
	@sh scripts/docs_site.sh $(ARGS)
	@echo "the site is in build/docs-site/index.html; its search works when it is served: python3 -m http.server -d build/docs-site"

clean: ## everything that was made here; never the data of the product
	rm -rf .venv client/.venvs .test-data .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
