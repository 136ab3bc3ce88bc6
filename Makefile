# Two commands are all a newcomer needs: make demo, make test. Both do their own set-up.
.DEFAULT_GOAL := help
.PHONY: help demo test bench chaos conformance picture fuzz fuzz-allowlist simulate differential kerberos lint lock audit sbom clean
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## Two real Kafka clusters and a mirror between them (ONCE=1: mirror a known set, compare, exit)
	$(BIN)/heliograph demo $(if $(ONCE),--once)

# Real tests wait more than they compute: two lanes, each with clusters and a Spark of its own.
test: $(READY) ## All tests, on real brokers and real Spark (ARGS=-n0: in one lane)
	$(BIN)/pytest --numprocesses 2 --dist loadgroup $(ARGS)

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

kerberos: $(READY) ## Logins by GSSAPI against a real KDC, from Debian's packages
	@sh scripts/kerberos.sh $(BIN)/python $(ARGS)

picture: $(READY) ## docs/images/run.svg from a real run on a terminal
	$(BIN)/python -m scripts.run_picture

conformance: $(READY) ## REST: compare a real Connect worker with ours (ARGS=--golden: ours with its recorded answers)
	$(BIN)/python -m conformance $(ARGS)

lint: $(READY) ## ruff, mypy --strict and the layer contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: ## Resolve the dependencies again into requirements.lock
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--group dev pyproject.toml --output-file requirements.lock

audit: $(READY) ## Known vulnerabilities of the packages in requirements.lock (ARGS=--strict: fail without advisories)
	$(BIN)/python scripts/audit.py $(ARGS)

sbom: $(READY) ## sbom.json: the packages in requirements.lock, as CycloneDX
	$(BIN)/python scripts/sbom.py > sbom.json

clean: ## Remove the environment; the per-user cache stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache

$(READY): requirements.lock pyproject.toml
	@sh scripts/setup.sh $(PYTHON)
	@touch $@
