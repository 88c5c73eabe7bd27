# make demo · make test: all a fresh machine needs is git, make and Python 3.11 or newer.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# One thread a BLAS call: the tests run a process a core, and more threads than cores fight each other.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: setup demo test check docs bench lock clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Panelist needs Python 3.11 or newer; install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv with $(PYTHON) (once; a few minutes on a slow network)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m panelist.analysis.warm
	@touch $@

demo: setup
	@$(BIN)/panelist demo

test: setup
	$(BIN)/pytest -q -n auto --dist worksteal

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m docs.generate --check

docs: setup
	$(BIN)/python -m docs.generate

bench: setup
	$(BIN)/python -m bench

lock:
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet -o requirements.lock

clean:
	rm -rf .venv build dist site
