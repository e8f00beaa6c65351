# make demo   set everything up in .venv and run the whole job on a bundled example
# make test   set everything up in .venv and .node, run every check and every test
# make bench  compare ours with the peers and with a bare worker (tests/bench/README.md)
PYTHON     ?= python3
VENV       := .venv
BIN        := $(VENV)/bin
NODE       := .node
WHEELHOUSE := .cache/wheelhouse
# Without npm a developer's tests of the rig are skipped; in CI its absence is an error.
NODE_PARTS := $(if $(shell command -v npm)$(filter true,$(CI)),$(NODE)/.ready)
PIP        := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check

.PHONY: setup demo check test bench clean
.DELETE_ON_ERROR:

# Each stamp is written last, so a set-up that was cut short starts again; each is older than a changed list of needs.
# torch is asked for by exact version first: an open range would fetch gigabytes of CUDA.
$(VENV)/.ready: pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "torchscan needs Python 3.11 or newer: make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install torch==2.13.0
	$(PIP) install --editable '.[action]' --group dev
	touch $@

$(NODE)/.ready: tests/rig/package.json
	mkdir -p $(NODE)
	cp tests/rig/package.json $(NODE)/package.json
	cd $(NODE) && npm install --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

# The wheels that action.yml installs, so that the runner in the tests needs no network.
$(WHEELHOUSE)/.ready: ci_action/requirements.txt $(VENV)/.ready
	rm -rf $(WHEELHOUSE)
	$(PIP) download --require-hashes --only-binary :all: --requirement $< --dest $(WHEELHOUSE)
	touch $@

# pip and npm wait for different servers: side by side they take the time of the slower one.
setup:
	@$(MAKE) --no-print-directory -j2 $(VENV)/.ready $(WHEELHOUSE)/.ready $(NODE_PARTS)

demo: $(VENV)/.ready
	$(BIN)/torchscan-ci demo

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet --no-progress .github action.yml
	$(BIN)/jactionlint
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

# A file stays on one worker, so that what its tests share is made once; files start in order, the slow end-to-end ones
# early. (xdist 3.8 cannot group by mark under pytest 9.2.)
test: setup check
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

bench: $(VENV)/.ready
	$(BIN)/python tests/bench/analysis.py
	$(BIN)/python tests/bench/scale.py
	$(BIN)/python tests/bench/action.py

clean:
	rm -rf $(VENV) $(NODE) $(WHEELHOUSE) out dist
