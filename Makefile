# One command for each thing to do; `make help` lists them.
#
# Each target sets up what it needs by itself (requirements/install.py: pinned, hashed, stamped; nothing to do
# when the stamp is right). Paths are relative, so the tree may live anywhere.

PYTHON ?= python3
EXAMPLES ?= 100000

.DEFAULT_GOAL := help
.PHONY: help run test check farm farm-check deploy-check terminal client-check adapters interop bench bench-http battery properties mutants sweep lock clean
.NOTPARALLEL:  # under -j too: two set-ups of one environment would only wait for each other
unexport PYTHONPATH  # what is tested is what is pinned

INSTALL := $(PYTHON) requirements/install.py
VENV := .venv/bin/python
BENCH := .venv-bench/bin/python

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1\t/p' Makefile

run:  ## see it work: a strict server refuses 200.0; behind argfit it answers
	@$(INSTALL) .venv requirements/run.txt
	@$(VENV) demo/first_light.py

test: check  ## all that can be checked on this machine; the same as check

check:  ## lint, format, types, tests (the tests hold size limits and layers too)
	@$(INSTALL) .venv requirements/dev.txt
	$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	$(VENV) -m pytest

farm:  ## start the example: an egg farm's records behind OAuth; says how to connect a client
	@$(INSTALL) .venv requirements/farm.txt
	@cd examples/farm && ../../$(VENV) -m farm.server

farm-check:  ## a live run of the example: consent, every kind of bad call in both eras, and its log
	@$(INSTALL) .venv requirements/farm.txt
	@cd examples/farm && ../../$(VENV) -m farm.check

deploy-check:  ## two replicas of argfit serve behind nginx, one dying after the other, and not a call made twice
	@$(INSTALL) .venv requirements/dev.txt
	@cd examples/farm && ../../$(VENV) -m farm.replicas

terminal:  ## try the terminal client, with the official fetch server
	@$(INSTALL) .venv requirements/run.txt
	@cd examples/terminal && ../../$(VENV) -m terminal mcp.json

client-check:  ## a model's call over a protobuf Struct: refused by a strict server, and answered with one line more
	@$(INSTALL) .venv requirements/dev.txt
	@$(VENV) demo/over_struct.py

adapters:  ## every client adapter against its real library, each kind in an environment of its own
	@set -e; for list in agents langchain adk; do \
		$(INSTALL) .venv-$$list requirements/$$list.txt; \
		echo "$$list:"; PYTHONPATH=. .venv-$$list/bin/python -m pytest -q --noconftest tests/agents; \
	done

interop:  ## strict servers and clients of other hands: Rust, and TypeScript where there is Node
	@$(INSTALL) .venv-interop requirements/interop.txt
	@.venv-interop/bin/python demo/over_struct.py
	@.venv-interop/bin/python interop/run.py

bench:  ## measure: every number in the docs comes from here; CORPUS="..." adds the tools listed in these folders
	@$(INSTALL) .venv-bench requirements/bench.txt
	@$(BENCH) bench/run.py
ifdef CORPUS
	@$(BENCH) bench/sweep/speed.py $(CORPUS)
endif

bench-http:  ## measure what argfit serve adds to a call, beside a bare relay, FastMCP's proxy, mcp-proxy and nginx
	@$(INSTALL) .venv-bench requirements/bench.txt
	@$(INSTALL) .venv-mcp-proxy requirements/mcp-proxy.txt || echo "It goes on without mcp-proxy."
	@$(BENCH) bench/run.py --only http --only stack

battery:  ## compare with other systems on bad arguments, and write docs/battery.md
	@$(INSTALL) .venv-bench requirements/bench.txt
	@$(BENCH) bench/battery/run.py --out docs/battery.md

properties:  ## only the property tests, each with EXAMPLES=100000 examples (an hour on two cores, and worth it)
	@$(INSTALL) .venv requirements/dev.txt
	EXAMPLES=$(EXAMPLES) $(VENV) -m pytest -m hypothesis -o faulthandler_timeout=0

mutants:  ## break the guard in some sixty ways, one at a time, and show that a test goes red each time
	@$(INSTALL) .venv requirements/dev.txt
	@$(VENV) tests/mutants/run.py

sweep:  ## call every tool listed in the folders CORPUS="..." rightly and wrongly, and judge what comes out
	@$(INSTALL) .venv requirements/dev.txt
	@$(VENV) bench/sweep/run.py $(CORPUS)

# All four lists are first solved as one, and then each from that answer, so that they agree on versions.
UV := .venv-lock/bin/uv
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command 'make lock' pyproject.toml

lock:  ## renew the pinned lists in requirements/ from pyproject.toml and the .in files
	@$(PYTHON) -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	$(COMPILE) requirements/run.in requirements/farm.in requirements/dev.in requirements/bench.in --output-file .venv-lock/all.txt
	@set -e; for list in run farm dev bench; do \
		cp .venv-lock/all.txt .venv-lock/$$list.txt; \
		$(COMPILE) requirements/$$list.in --output-file .venv-lock/$$list.txt; \
	done
	@set -e; for list in agents langchain adk interop mcp-proxy; do \
		$(COMPILE) requirements/$$list.in --output-file .venv-lock/$$list.txt; \
	done  # each by itself: they do not go with each other
	@cd .venv-lock && mv run.txt farm.txt dev.txt bench.txt agents.txt langchain.txt adk.txt interop.txt mcp-proxy.txt ../requirements

clean:  ## remove environments, caches and build leftovers
	rm -rf .venv .venv-* interop/node_modules .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist src/*.egg-info
	find . -path ./.git -prune -o -name __pycache__ -prune -exec rm -rf {} +
