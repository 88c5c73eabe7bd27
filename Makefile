# make demo · make test: all a fresh machine needs is git, make and Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# One thread per BLAS call: the tests run in a process per core or more, and more threads than cores slow each other down.
export OPENBLAS_NUM_THREADS ?= 1
# Bytecode is kept: without it every process of the tests would compile a thousand modules again.
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile

QUICK := $(addprefix tests/,core numerics models agreement scales study design contracts test_architecture.py)

.PHONY: setup system demo test test-quick check docs bench release-check lock clean

# What running Panelist needs. Nothing is compiled here: a command compiles what it needs, once.
.venv/runs: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Panelist needs Python 3.11 or newer; install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv with $(PYTHON), once: about a minute, more on a slow network"
	@$(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# What developing needs besides: tests, linters, the documentation; all of the model code, compiled.
setup: .venv/ready

.venv/ready: .venv/runs requirements-dev.lock
	@echo "Adding what tests and documentation need"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m panelist.numerics.compile_ahead
	@touch $@

# A browser and PostgreSQL, for the tests that need them; without them those tests are skipped and say so.
system:
	@missing=""; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing="$$missing chromium"; \
	command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing$$missing for the tests that need them"; \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null 2>&1 \
			|| echo "Could not install$$missing: the tests that need them are skipped"; \
	elif [ -n "$$missing" ]; then \
		echo "Some tests are skipped: to run them, install$$missing"; \
	fi

demo: .venv/runs
	@$(BIN)/panelist demo

test: setup system
	$(BIN)/pytest -q -n auto --dist worksteal

# What most changes can break, in under a minute: no browser, no database, no slow simulation.
test-quick: setup
	$(BIN)/pytest -q -n auto --dist worksteal -p no:schemathesis --hypothesis-profile quick \
		-m "not slow and not browser and not postgres" $(QUICK)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m docs.generate --check

docs: setup
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/: open site/index.html"

# make bench SECTIONS=collecting measures that section; the usual ones where none is named.
bench: setup
	$(BIN)/python -m bench $(SECTIONS)

# Builds the wheel and the source archive, and uses the wheel in an empty environment, as a newcomer would.
release-check: setup
	$(BIN)/python -m tests.release_check

lock:
	uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet -o requirements.lock
	uv pip compile pyproject.toml --group dev --constraint requirements.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o requirements-dev.lock

clean:
	rm -rf .venv build dist site
