# make demo    the main job: sets itself up, imports a conversation, shows what became of it, answers from it
# make test    lint and all tests
# make lint    ruff and mypy
# make bench   the speed script
# make soak    several processes do everything to one memory at once, and are killed; SOAK_S=1200 seconds, SOAK_SEED=1
# make mutants can the tests behind docs/trust.md fail? each is run without the line of code it is about
# Variables: PYTHON (3.11 to 3.13), LLM and API_BASE for `make demo` with a live model.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test lint format bench soak mutants clean
.DELETE_ON_ERROR:

$(VENV)/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; ok = (3, 11) <= sys.version_info[:2] <= (3, 13); sys.exit(0 if ok else "amem needs Python 3.11 to 3.13; say make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing amem and what it needs (once; a minute or two)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "installing what the tests need (once)"
	@$(PIP) install -e '.[dev]'
	@touch $@

demo: $(VENV)/.base
	@$(BIN)/amem demo $(if $(LLM),--llm $(LLM)) $(if $(API_BASE),--api-base $(API_BASE))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n 2 $(ARGS)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.base
	$(BIN)/python -m benchmarks.speed

SOAK_S ?= 1200
SOAK_SEED ?= 1
soak: $(VENV)/.dev
	@PYTHONPATH=tests $(BIN)/python -m soak --seconds $(SOAK_S) --seed $(SOAK_SEED)

mutants: $(VENV)/.dev
	@$(BIN)/python tests/mutants.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
