# make demo   set everything up in .venv and run the whole job on a bundled example
# make test   set everything up in .venv and .node, run every check and every test; again with TORCH=2.14.1 or PYTHON=python3.13
# make fuzz   draw random examples for the tests of properties, for FUZZ_SECONDS=300, or those of one SEED
# make bench  compare ours with the peers and with a bare worker (tests/bench/README.md)
PYTHON     ?= python3
TORCH      ?= 2.13.0
VENV       := .venv
BIN        := $(VENV)/bin
NODE       := .node
WHEELHOUSE := .cache/wheelhouse
# The stamps carry what they were made with: another torch or another Python needs another .venv, and its own wheels.
PYTHON_IS  := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
READY      := $(VENV)/.ready-python$(PYTHON_IS)-torch$(TORCH)
WHEELS     := $(WHEELHOUSE)/.ready-python$(PYTHON_IS)
# Without npm a developer's tests of the rig are skipped; in CI its absence is an error.
NODE_PARTS := $(if $(shell command -v npm)$(filter true,$(CI)),$(NODE)/.ready)
PIP        := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check

FUZZ_SECONDS ?= 300

.PHONY: setup demo check test fuzz bench clean
.DELETE_ON_ERROR:

# Each stamp is written last, so a set-up that was cut short starts again; each is older than a changed list of needs.
# torch is asked for by exact version first: an open range would fetch gigabytes of CUDA.
# Where the stamp is missing, .venv is of another torch or was cut short: it is made anew, so that nothing of one torch
# (its CUDA, its triton) is met by the tests of the other.
$(READY): pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "torchscan needs Python 3.11 or newer: make PYTHON=python3.12")'
	test -e $@ || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install torch==$(TORCH)
	$(PIP) install --editable '.[action]' --group dev
	touch $@

$(NODE)/.ready: tests/rig/package.json
	mkdir -p $(NODE)
	cp tests/rig/package.json $(NODE)/package.json
	cd $(NODE) && npm install --no-package-lock --no-audit --no-fund --loglevel=error
	touch $@

# The wheels that action.yml installs, so that the runner in the tests needs no network. Torch is none of them.
$(WHEELS): ci_action/requirements.txt | $(READY)
	rm -rf $(WHEELHOUSE)
	$(PIP) download --require-hashes --only-binary :all: --requirement $< --dest $(WHEELHOUSE)
	touch $(WHEELHOUSE)/.ready $@

# pip and npm wait for different servers: side by side they take the time of the slower one.
setup:
	@$(MAKE) --no-print-directory -j2 $(READY) $(WHEELS) $(NODE_PARTS)

demo: $(READY)
	$(BIN)/torchscan-ci demo

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --persona auditor --quiet --no-progress .github action.yml
	$(BIN)/jactionlint
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

# A file stays on one worker, so that what its tests share is made once; files start in order, the slow end-to-end ones
# early. (xdist 3.8 cannot group by mark under pytest 9.2.)
test: setup check
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# make test draws the same examples each time; chance is here, and each round prints the seed that brings it back.
fuzz: $(READY)
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS) $(if $(SEED),--seed $(SEED))

bench: $(READY)
	$(BIN)/python tests/bench/analysis.py
	$(BIN)/python tests/bench/scale.py
	$(BIN)/python tests/bench/action.py

clean:
	rm -rf $(VENV) $(NODE) $(WHEELHOUSE) out dist
