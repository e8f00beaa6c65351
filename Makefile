# make demo: set everything up in .venv and run the whole job on the bundled example.
# make test: set everything up in .venv and run every check and test.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test check bench clean
.DELETE_ON_ERROR:

# torch is asked for by exact version first: an open range would fetch gigabytes of CUDA.
$(VENV)/.ready: pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[action]' --group dev
	touch $@

demo: $(VENV)/.ready
	$(BIN)/torchscan-ci demo

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.ready check
	$(BIN)/pytest -n auto --dist loadgroup

clean:
	rm -rf $(VENV) .node out dist
