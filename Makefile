# Everything that CI runs. `make test` needs Rust, git, Node 20 or later with npm, and
# Python 3.10 or later; all else it sets up itself, below tests/.

CARGO  ?= cargo
NPM    ?= npm
PYTHON ?= python3
export CARGO NPM PYTHON

.PHONY: help test format lint features docs counts set-up fetch program conformance clients agents e2e packages \
	python node fuzz bench instructions dist release crates nightly clean

# name: what it does [settings, with what they are unless said otherwise]
define HELP
help          this table
test          all tests, real MCP servers and a browser included [PROPTEST_RNG_SEED=1 TEST_THREADS]
format        rustfmt; what is not formatted is an error
lint          clippy, with the benches; warnings are errors
features      the library without features and with those chosen most, and no tokio where none is needed
              [MORE=yes: each feature alone, the code for Windows, known faults of dependencies]
docs          rustdoc; warnings are errors
counts        lines, flags, options, words and crates beside their limits and goals (tests/counts)
set-up        what the tests need beside Rust: MCP servers of other people, and a browser
fetch         all that a landing's tests fetch from package indexes
program       the program as the tests build it, target/debug/toolgraft
conformance   the client scenarios of MCP's conformance suite [MCP=2026-07-28; 2025-11-25 is the older]
clients       real clients against `toolgraft serve` [CLIENTS: two; `all` has the others and the frameworks; NEWEST=yes: unpinned]
agents        real coding agents against a scripted model [AGENTS: all, which writes docs/clients.md]
e2e           long suites of other programs (e2e/run) [SUITES="attack canitoolcall deploy …"]
packages      the wheel and the npm packages of this machine, of what the tests have built
python        the package for Python: its tests, types and adapters
node          the packages for Node: their tests and types
fuzz          a free walk of the fuzzer [SECONDS=600 TARGET; CORPUS=yes makes fixtures/fuzz anew]
bench         times [BENCH=cases; extract, hub, peers, serve]
instructions  instructions, allocations and memory against benches/limits.toml [HOW: changed, lower, repetitions]
dist          the program as it is handed out (docs/install.md)
release       all that is handed out, installed and run
crates        the crates as they are published: packed, unpacked and built; contrib/mcp-recorder
nightly       what takes longer than a landing should
clean         removes the environments below tests, e2e and bindings
endef

help:
	$(info $(HELP))@:

# Properties are tried with the same values each time, so that only a change can fail; `make nightly`
# draws new ones. Half of what the command's tests do is to wait for programs, so that twice as many
# as there are processors run at once. Where no browser can be had, its tests are skipped, and named
# at the end.
PROPTEST_RNG_SEED ?= 1
TEST_THREADS ?= $$((2 * $$($(PYTHON) -c 'import os; print(os.cpu_count())')))
test: set-up
	TOOLGRAFT_REAL_SERVERS=1 PROPTEST_RNG_SEED=$(PROPTEST_RNG_SEED) RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test
	@tests/browser/set-up --skipped

format:
	$(CARGO) fmt --check
	cd benches && $(CARGO) fmt --check

# A landing has Clippy compile what the tests are built of instead (.ci/run).
lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	cd benches && $(CARGO) clippy --all-targets -- -D warnings

# `lint` has looked at all features together.
features:
	@tests/features $(if $(MORE),--more)

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --workspace

counts:
	@$(PYTHON) tests/counts/counts.py --hold

set-up:
	@tests/needs
	@tests/browser/set-up
	@e2e/set-up servers

fetch:
	e2e/set-up servers clients conformance wheel
	for binding in bindings/python bindings/node; do (cd $$binding && $(CARGO) fetch --quiet --locked) || exit 1; done

# With other features of its dependencies than `cargo build`: Cargo.toml says which crates differ.
program:
	$(CARGO) test --quiet --no-run --test command

MCP ?= 2026-07-28
conformance: program
	e2e/set-up conformance
	e2e/conformance/run.sh $(MCP)

CLIENTS ?= "openai for Python" "anthropic for Node"
clients: program
	NEWEST=$(NEWEST) e2e/clients/test $(if $(filter all,$(CLIENTS)),--all,$(CLIENTS))

AGENTS ?=
agents: program
	$(PYTHON) e2e/agents/run.py $(CURDIR)/target/debug/toolgraft $(or $(AGENTS),--write docs/clients.md)

SUITES ?= attack canitoolcall deploy evidence-held live load otlp scale soak
e2e:
	e2e/run $(SUITES)

# Sooner built than what is handed out, by the same scripts: the program that the tests have built, and
# modules as tests want them. Each is installed into an empty place, is run there and reads every
# parser fixture in pieces.
packages: program
	e2e/set-up wheel
	bindings/packages

python:
	e2e/set-up wheel python
	bindings/python/test

node:
	e2e/set-up node
	bindings/node/test

SECONDS ?= 600
TARGET  ?= config copied grammar json laws recording repair validate
fuzz:
	SECONDS_EACH=$$(($(SECONDS) / $(if $(CORPUS),1,$(words $(TARGET))))) fuzz/run $(if $(CORPUS),--corpus) $(TARGET)

BENCH ?= cases
bench:
	benches/run $(BENCH)

# No seconds are measured. What was counted and kept its limits is written to benches/counted; a
# landing counts only where that is something else (HOW=changed).
HOW ?= all
instructions:
	benches/run instructions $(HOW)

dist:
	dist/build

# For this machine and, but for an emulator never run, for the other one.
release: dist
	e2e/set-up wheel
	dist/release

crates:
	$(CARGO) package -p toolgraft -p toolgraft-files -p toolgraft-raster -p toolgraft-mcp -p toolgraft-protocol -p toolgraft-serve -p toolgraft-cli --locked --offline --allow-dirty --all-features
	cd contrib/mcp-recorder && $(CARGO) test --quiet --locked

# All are tried, and those that failed are named at the end.
NIGHTLY := lint 'features MORE=yes' crates counts instructions 'instructions HOW=repetitions' 'clients CLIENTS=all' 'clients CLIENTS=all NEWEST=yes' agents \
	'conformance MCP=2025-11-25' 'test PROPTEST_RNG_SEED=$(shell date +%s)' fuzz e2e python node release
nightly:
	@failed=; for step in $(NIGHTLY); do \
		echo "== $$step"; \
		$(MAKE) --no-print-directory $$step || failed="$$failed, $$step"; \
	done; \
	[ -z "$$failed" ] || { echo "failed: $${failed#, }"; exit 1; }

clean:
	rm -rf tests/servers/node_modules tests/servers/venv* tests/browser/node_modules tests/browser/unpacked \
		e2e/*/node_modules e2e/*/venv* e2e/agents/installed bindings/python/venv-* bindings/node/installed bindings/node/tests/node_modules
