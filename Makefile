# make demo · make test: all a fresh machine needs is git, make and Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# One thread a BLAS call: the tests run a process a core, and more threads than cores fight each other.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: setup system demo test check docs bench lock clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Panelist needs Python 3.11 or newer; install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv with $(PYTHON) (once; a few minutes on a slow network)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m panelist.analysis.warm
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

demo: setup
	@$(BIN)/panelist demo

test: setup system
	$(BIN)/pytest -q -n auto --dist worksteal

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m docs.generate --check

docs: setup
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/: open site/index.html"

bench: setup
	$(BIN)/python -m bench

lock:
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet -o requirements.lock

clean:
	rm -rf .venv build dist site
