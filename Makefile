# Needs GNU make 3.81 or later, Python 3.11 or later and, for Spark, Java 17 or later.
# Everything is installed in .venv; nothing outside this directory is changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLASSES := $(VENV)/spark.jsa
KAFKA := $(VENV)/kafka
PACKAGES := analyzer commands criteria gate importing incremental preprocess recheck reports synopsis_exec temporal
# Some dependencies come as source only; older pips would build them in a way they warn about.
PIP_INSTALL := PIP_USE_PEP517=1 $(BIN)/pip install --quiet --disable-pip-version-check
LOCK_VENV := build/lock
LOCK = $(LOCK_VENV)/bin/uv pip compile --quiet pyproject.toml --universal --python-version 3.11 \
  --fork-strategy fewest --generate-hashes --system-certs --no-emit-index-url --no-emit-find-links --no-annotate \
  --custom-compile-command 'make lock'
UV := uv==0.13.8
# Processes that run the tests; 0: this one alone.
WORKERS ?= auto
TUNABLES := glibc.malloc.tcache_max=65536:glibc.malloc.tcache_count=400

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint docs bench man schemas lock kafka clean python java

help: ## list these targets (default)
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## install streambound and its tools in .venv, from requirements.lock

demo: setup ## analyse, compile and run the example queries
	@$(BIN)/streambound demo

test: java setup ## run every check and every test; ARGS="tests/analyzer -k closure" picks tests
	@# The type checker and the Java whose classes are archived have a processor each.
	@$(MAKE) --no-print-directory -j 2 lint $(CLASSES)
	@# Without new workers for lost ones: pytest-xdist 3.8 then waits forever for their groups.
	@# DuckDB plans each statement in small pieces of memory: with more of them at hand that takes a sixth less.
	GLIBC_TUNABLES=$(TUNABLES) $(BIN)/pytest -n $(WORKERS) --dist loadgroup --max-worker-restart 0 $(ARGS)

lint: setup ## run the linter, the formatter's check, the type checker and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: setup ## build the documentation site in build/site; what is no page of it, or leads nowhere, is an error
	rm -rf build/pages
	@$(BIN)/python docs/write_site.py build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: java setup ## run all benchmarks, one after the other: some two hours
	$(BIN)/python benchmarks/checking.py
	$(BIN)/python benchmarks/operators.py
	$(BIN)/python benchmarks/executor.py --native 20 --workload W1 W2 W3 count left-join
	$(BIN)/python benchmarks/nexmark.py build/nexmark --spark
	$(BIN)/python benchmarks/buckets.py
	$(BIN)/python benchmarks/periods.py build/periods --scale 1
	$(BIN)/python benchmarks/periods.py build/periods --scale 1 --embedded
	$(BIN)/python benchmarks/tp_join.py 20000 200000
	$(BIN)/python benchmarks/soak.py

man: setup ## write the manual pages to build/man
	@$(BIN)/python docs/write_manual.py build/man
	@echo "man -l build/man/streambound.1"

schemas: setup ## write the JSON Schemas to docs/schemas, from the models of the documents
	@$(BIN)/python docs/write_schemas.py docs/schemas

lock: python ## renew both locks from pyproject.toml; UPGRADE=1 takes newer versions
	test -x $(LOCK_VENV)/bin/pip || $(PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/pip install --quiet '$(UV)'
	$(LOCK) --extra dev --output-file requirements.lock $(if $(UPGRADE),--upgrade)
	@# What checking alone needs, in the same versions: the action installs these.
	grep -v hash= requirements.lock | tr -d '\\' > $(LOCK_VENV)/versions.txt
	$(LOCK) --constraint $(LOCK_VENV)/versions.txt --output-file requirements-gate.lock --upgrade

kafka: setup ## fetch a broker and Spark's package for it, with which the tests of Kafka run; needs Maven (mvn)
	rm -rf $(KAFKA) $(KAFKA).new
	for part in broker connector; do mvn --batch-mode --quiet --strict-checksums --file tests/data/kafka/pom.xml \
	  -P $$part dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(KAFKA).new/$$part || exit; done
	cd $(KAFKA).new && sha256sum --quiet --check ../../tests/data/kafka/SHA256SUMS
	mv $(KAFKA).new $(KAFKA)

clean: ## remove what these targets made
	rm -rf $(VENV) $(LOCK_VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf build/man build/pages build/site build/lib build/bdist.* *.egg-info spark-warehouse metastore_db derby.log __pycache__
	find $(PACKAGES) -name __pycache__ -type d -prune -exec rm -rf {} +
	@rmdir build 2>/dev/null || true

$(STAMP): pyproject.toml requirements.lock | python
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	$(PIP_INSTALL) --require-hashes -r requirements.lock
	$(PIP_INSTALL) --no-deps -e .
	@# This directory is the package, whatever it is called, and has another one in it: mypy finds them by these links.
	@mkdir -p $(VENV)/names && ln -sfn ../.. $(VENV)/names/streambound
	@ln -sfn ../../synopsis_exec/runtime $(VENV)/names/streambound_runtime
	@# As pip does for what it copies: half of a short command's time goes into compiling otherwise.
	@$(BIN)/python -m compileall -q $(PACKAGES) *.py
	@touch $@

# Java's classes as a first job has loaded them, for the jobs of all tests.
$(CLASSES): $(STAMP)
	@$(BIN)/python tests/support/quick_java.py $@

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "streambound needs Python 3.11 or later, and '$(PYTHON)' is older or does not run." >&2; \
	  echo "Name another one, for instance: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }

# Before the setup, which takes minutes, and before Spark prints anything. -P: no module here stands in for Python's own.
java: python
	@$(PYTHON) -P synopsis_exec/java.py
