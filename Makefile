# Everything that CI runs. `make test` needs Rust, git, Node 20 or later with npm, and
# Python 3.10 or later; all else it sets up itself, below tests/.

CARGO  ?= cargo
NPM    ?= npm
PYTHON ?= python3

SERVERS  := tests/servers
NODE_SET := $(SERVERS)/node_modules/.set-up
VENV     := $(SERVERS)/venv
VENV_SET := $(VENV)/.set-up
VENV1    := $(SERVERS)/venv-v1
VENV1_SET := $(VENV1)/.set-up
FEATURES := prompt validate typed agent client

# What a landing checks of the features; `make each-feature` has all.
CHECKED  := none prompt,validate agent

.PHONY: all fetch agents attack canitoolcall evidence evidence-held nightly test properties python wheel node npm packages packages-python packages-node release program needs browser servers clients clients-more pictures conformance conformance-older deploy otlp scale load live live-tests soak check each-feature check-windows package dist advisories lint lint-benches fmt-check docs bench bench-extract bench-hub bench-serve bench-peers bench-smoke bench-changed bench-repetitions bench-limits fuzz fuzz-corpus clean-servers

all: fmt-check lint check docs test

# Properties are tried with the same values each time here, so that only a change can fail;
# `make properties` draws new ones.
PROPTEST_RNG_SEED ?= 1

# Half of what the command's tests do is to wait for programs, so that twice as many as there are
# processors run at once.
TEST_THREADS ?= $$((2 * $$($(PYTHON) -c 'import os; print(os.cpu_count())')))

properties:
	$(CARGO) test

# The whole test suite, real MCP servers and a browser (set up on first use) included.
# Where no browser can be had, its tests are skipped, and named at the end.
test: needs servers browser
	TOOLGRAFT_REAL_SERVERS=1 PROPTEST_RNG_SEED=$(PROPTEST_RNG_SEED) RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test
	@tests/browser/set-up --skipped

# The package for Python (bindings/python): its wheel is built, installed into an empty
# environment, and tested, type-checked and measured there. Adapters are tested in environments
# that stay, one for each version of `openai` that their packages want.
BINDING := bindings/python
ADAPTERS := adapters/test_openai.py adapters/test_pages.py
OPENAI2  := dspy litellm llama_index
PIP := -m pip install --disable-pip-version-check --quiet
AGAIN := $(PIP) --no-index --no-deps --force-reinstall
python: export LITELLM_LOCAL_MODEL_COST_MAP = True
python: $(addprefix $(BINDING)/venv-,build/.set-up types/.set-up adapters/.set-up openai2/.set-up)
	cd $(BINDING) && $(CARGO) clippy --quiet -- -D warnings && $(CARGO) fmt --check
	rm -rf $(BINDING)/wheels $(BINDING)/venv-test
	cd $(BINDING) && venv-build/bin/maturin build --quiet --release --locked --out wheels
	$(PYTHON) -m venv $(BINDING)/venv-test
	$(BINDING)/venv-test/bin/python $(PIP) --no-index $(BINDING)/wheels/*.whl
	cd $(BINDING)/tests && ../venv-test/bin/python -m unittest
	cd $(BINDING) && venv-test/bin/python bench.py
	$(BINDING)/venv-adapters/bin/python $(AGAIN) $(BINDING)/wheels/*.whl
	$(BINDING)/venv-openai2/bin/python $(AGAIN) $(BINDING)/wheels/*.whl
	cd $(BINDING)/tests && ../venv-adapters/bin/python -m unittest $(ADAPTERS) adapters/test_langchain.py adapters/test_pydantic_ai.py
	cd $(BINDING)/tests && ../venv-openai2/bin/python -W ignore -m unittest $(ADAPTERS) $(OPENAI2:%=adapters/test_%.py)
	$(BINDING)/check-types

# The wheel that also holds the program, as it is handed out: `uvx toolgraft demo`.
MACHINE := $(shell uname -m)
wheel: dist $(BINDING)/venv-build/.set-up
	rm -rf $(BINDING)/wheels
	PYTHON="$(PYTHON)" $(BINDING)/build-wheel --manylinux $(MACHINE) target/archives/image/toolgraft

# The wheel and the packages for npm of this machine, with the program that the tests have built and
# with modules as tests want them: sooner built than what is handed out, by the same scripts. Each
# is installed into an empty place, is run there and reads every parser fixture in pieces.
PACKAGED := target/packages
packages: program $(BINDING)/venv-build/.set-up
	@mkdir -p $(PACKAGED)
	strip -o $(PACKAGED)/toolgraft target/debug/toolgraft
	$(MAKE) --no-print-directory -j2 packages-python packages-node

packages-python:
	rm -rf $(BINDING)/wheels
	PROFILE=dev PYTHON="$(PYTHON)" $(BINDING)/build-wheel $(PACKAGED)/toolgraft
	cd $(BINDING)/tests && ../venv-test/bin/python -m unittest test_conformance.Conformance.test_in_pieces_of_sixteen_bytes

packages-node:
	rm -rf $(NODE_BINDING)/packed
	PROFILE=dev CARGO="$(CARGO)" NPM="$(NPM)" PYTHON="$(PYTHON)" $(NODE_BINDING)/build-packages $(PACKAGED)/toolgraft
	NPM="$(NPM)" dist/installed npm $(NODE_BINDING)/installed $(NODE_BINDING)/packed/*.tgz
	cp $(NODE_BINDING)/tests/conformance.test.js $(NODE_BINDING)/installed/
	cd $(NODE_BINDING)/installed && node --test --test-name-pattern "sixteen bytes"

# The package for Node (bindings/node): its tarballs are packed, installed beside the AI SDK, and
# tested and measured there, with Node of the machine and a later one.
NODE_BINDING := bindings/node
NODE_TESTS   := $(NODE_BINDING)/tests
NODE_INSTALL := cd $(NODE_TESTS) && rm -rf node_modules/toolgraft node_modules/@toolgraft node_modules/.package-lock.json && \
	$(NPM) install --no-save --no-package-lock --no-audit --no-fund --silent ../packed/*.tgz
node: $(NODE_TESTS)/node_modules/.set-up
	cd $(NODE_BINDING) && $(CARGO) clippy --quiet --locked -- -D warnings && $(CARGO) fmt --check
	rm -rf $(NODE_BINDING)/packed
	CARGO="$(CARGO)" NPM="$(NPM)" PYTHON="$(PYTHON)" $(NODE_BINDING)/build-packages
	$(NODE_INSTALL)
	cd $(NODE_TESTS) && node --test
	cd $(NODE_TESTS) && node_modules/.bin/node --test
	cd $(NODE_TESTS) && node bench.js

# The same packages with the program in them, as they are handed out: `npx toolgraft demo`.
npm: dist
	rm -rf $(NODE_BINDING)/packed
	CARGO="$(CARGO)" NPM="$(NPM)" PYTHON="$(PYTHON)" $(NODE_BINDING)/build-packages --manylinux $(MACHINE) target/archives/image/toolgraft

$(NODE_TESTS)/node_modules/.set-up: $(NODE_TESTS)/package.json
	cd $(NODE_TESTS) && $(NPM) install --no-package-lock --no-audit --no-fund
	@touch $@

# Everything that is handed out, in target/release-dist, each installed and run (dist/release); for
# the other machine too, of which an emulator at most runs the program.
OTHER := $(if $(filter aarch64,$(MACHINE)),x86_64,aarch64)
release: wheel npm
	CARGO="$(CARGO)" PYTHON="$(PYTHON)" dist/build $(OTHER)
	PYTHON="$(PYTHON)" $(BINDING)/build-wheel --manylinux $(OTHER) target/$(OTHER)-unknown-linux-musl/dist/toolgraft
	CARGO="$(CARGO)" NPM="$(NPM)" PYTHON="$(PYTHON)" $(NODE_BINDING)/build-packages --manylinux $(OTHER) target/$(OTHER)-unknown-linux-musl/dist/toolgraft
	PYTHON="$(PYTHON)" NPM="$(NPM)" dist/release

$(BINDING)/venv-build/.set-up: $(BINDING)/requirements.txt
$(BINDING)/venv-types/.set-up: $(BINDING)/requirements-types.txt
$(BINDING)/venv-adapters/.set-up: $(BINDING)/requirements-adapters.txt
$(BINDING)/venv-openai2/.set-up: $(BINDING)/requirements-openai2.txt
$(BINDING)/venv-%/.set-up:
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python $(PIP) -r $<
	@touch $@

# A real model, of 135 million parameters, behind llama.cpp's own server (see tests/live). What
# could not be fetched is named, and the tests then count as not run.
live: needs
	@tests/live/set-up || { code=$$?; [ $$code = 75 ] && exit 0 || exit $$code; }
	@[ ! -e tests/live/venv/.set-up ] || $(MAKE) --no-print-directory live-tests

# What takes longer than a landing should: each feature alone, the crate as it is published, a
# real model, all other clients, the older conformance suite, the dependencies once more for
# Windows, texts made to be slow, a free walk of the fuzzer, twelve servers that are killed at
# random, and so on. All are tried, and those that failed are named at the end.
NIGHTLY := lint-benches bench-smoke each-feature package advisories live clients-more agents conformance-older check-windows bench-repetitions fuzz soak deploy load otlp scale properties attack canitoolcall evidence-held python node release
nightly:
	@failed=; for step in $(NIGHTLY); do \
		echo "== $$step"; \
		$(MAKE) --no-print-directory $$step || failed="$$failed $$step"; \
	done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Three instances of `serve` behind a real HAProxy and a real nginx, under load, with and without
# affinity (docs/deploy.md). What is not installed is named and left out.
deploy:
	$(CARGO) build --release
	$(PYTHON) tests/deploy/balanced.py target/release/toolgraft

# What an enemy could do, against the built command (docs/security.md).
attack:
	ATTACK=all $(CARGO) test -p toolgraft-cli --test command attack::

# A thousand streams at once, slow readers, clients that go away, and calls that run meanwhile.
load:
	$(CARGO) build --release --quiet
	$(PYTHON) tests/load/streams.py target/release/toolgraft

# The example that exports spans, and what a collector gets of it.
otlp:
	cd examples/otlp && $(CARGO) build --quiet --target-dir $(CURDIR)/target/otlp
	$(PYTHON) tests/otlp/exported.py target/otlp/debug/toolgraft-otlp-example

# `extract` on a local cluster of Ray, of which one machine is lost and one process is killed,
# and on Spark, which is skipped where there is no Java.
SCALE := tests/scale
scale: $(SCALE)/venv/.set-up
	$(CARGO) build --release --quiet
	$(SCALE)/venv/bin/python $(SCALE)/ray_cluster.py target/release/toolgraft
	@if command -v java > /dev/null; then \
		$(SCALE)/venv/bin/python $(SCALE)/spark_local.py target/release/toolgraft; \
	else \
		echo "skipped: Spark needs a Java (Debian: default-jre-headless)"; \
	fi

# Recorded outputs of nine families of models, read as a public suite says that they should be
# (PyPI; nothing of it is kept here). Fewer than these are a failure.
CANITOOLCALL := tests/canitoolcall
canitoolcall: $(CANITOOLCALL)/venv/.set-up
	$(CARGO) build --release --quiet
	$(CANITOOLCALL)/venv/bin/python $(CANITOOLCALL)/run.py target/release/toolgraft --least-passed 455 --least-exact 430

$(CANITOOLCALL)/venv/.set-up: $(CANITOOLCALL)/requirements.txt
	$(PYTHON) -m venv $(CANITOOLCALL)/venv
	$(CANITOOLCALL)/venv/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

# What three real models do in each way and as others do it, on tasks that nothing was tuned on
# (docs/models.md has the table): 1.7 GB of models, and some hours without a graphics card.
EVIDENCE := tests/evidence
evidence:
	tests/live/set-up
	$(CARGO) build --release --quiet
	$(PYTHON) $(EVIDENCE)/run.py target/release/toolgraft --write

# Whether the two larger of these models, measured, still decide and call as well.
evidence-held:
	tests/live/set-up
	$(CARGO) build --release --quiet
	$(PYTHON) $(EVIDENCE)/run.py target/release/toolgraft --hold

live-tests: servers
	TOOLGRAFT_LIVE=1 $(CARGO) test -p toolgraft-cli --test live -- --test-threads=1

needs:
	@NPM="$(NPM)" PYTHON="$(PYTHON)" tests/needs

# Chromium: the machine's, Debian's, or one inside tests/browser (see there).
browser:
	@NPM="$(NPM)" tests/browser/set-up

# The program as the tests build it, target/debug/toolgraft: with other features of its dependencies
# than `cargo build`, which so would compile all of them a second time.
program:
	$(CARGO) test --quiet --no-run --test command

# Real MCP servers, inside tests/servers only.
servers: $(NODE_SET) $(VENV_SET) $(VENV1_SET)

$(NODE_SET) $(VENV_SET) $(VENV1_SET): | needs

$(NODE_SET): $(SERVERS)/package.json
	cd $(SERVERS) && $(NPM) install --no-package-lock --no-audit --no-fund --ignore-scripts
	@touch $@

$(VENV_SET): $(SERVERS)/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --quiet -r $(SERVERS)/requirements.txt
	@touch $@

# Servers written with the first version of the Python SDK.
$(VENV1_SET): $(SERVERS)/requirements-v1.txt
	$(PYTHON) -m venv $(VENV1)
	$(VENV1)/bin/python -m pip install --disable-pip-version-check --quiet -r $(SERVERS)/requirements-v1.txt
	@touch $@

# The pictures of the READMEs, from the real thing: the demo on a terminal, and a page of its
# recording in a browser, which wants CJK fonts (Debian: fonts-noto-cjk).
pictures: browser
	$(CARGO) test --quiet --test command draw_the_pictures -- --ignored

# Twelve MCP servers, killed and started anew at random, with lists that change; SOAK seconds.
SOAK ?= 600
soak:
	$(CARGO) build --quiet
	$(CARGO) test --quiet -p toolgraft-mcp --test mcp_faults -- --list > /dev/null
	export TOOLGRAFT="$(CURDIR)/target/debug/toolgraft" && dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
		$$(ls -t target/debug/deps/mcp_faults-* | grep -v '\.d$$' | head -1) soak $(SOAK) "$$dir"

# The client scenarios of the public conformance suite of MCP for the newer version of the
# protocol; `conformance-older` has those for the older one.
CONFORMANCE := tests/conformance
conformance conformance-older: program $(CONFORMANCE)/node_modules/.set-up
	$(CONFORMANCE)/run.sh $(if $(filter %-older,$@),2025-11-25,2026-07-28)

$(CONFORMANCE)/node_modules/.set-up: $(CONFORMANCE)/package.json
	cd $(CONFORMANCE) && $(NPM) install --no-package-lock --no-audit --no-fund
	@touch $@

# Two real clients, of OpenAI's interface in Python and of Anthropic's in Node, against
# `toolgraft serve` in front of a scripted endpoint; `clients-more` has the others. Those for
# Node want Node 22, which npm brings.
CLIENTS := tests/clients
CLIENTS_RUN := $(CLIENTS)/venv/bin/python $(CLIENTS)/run.py $(CURDIR)/target/debug/toolgraft $(CURDIR)/$(CLIENTS)/node_modules/.bin/node
clients: program $(CLIENTS)/node_modules/.set-up $(CLIENTS)/venv/.set-up
	$(CLIENTS_RUN) "openai for Python" "anthropic for Node"

# What a landing's tests fetch from package indexes.
fetch: servers $(CLIENTS)/node_modules/.set-up $(CLIENTS)/venv/.set-up $(CONFORMANCE)/node_modules/.set-up $(BINDING)/venv-build/.set-up
	for binding in $(BINDING) $(NODE_BINDING); do (cd $$binding && $(CARGO) fetch --quiet --locked) || exit 1; done

# Real coding agents at their current versions, installed below tests/agents, against a scripted
# model without tools; it writes the tables of docs/clients.md. AGENTS="codex opencode@1.18.33" has
# these alone, at these versions, and writes nothing.
AGENTS ?=
agents: program
	$(PYTHON) tests/agents/run.py $(CURDIR)/target/debug/toolgraft $(or $(AGENTS),--write docs/clients.md)

$(CLIENTS)/node_modules/.set-up: $(CLIENTS)/package.json
	cd $(CLIENTS) && $(NPM) install --no-package-lock --no-audit --no-fund
	@touch $@

$(CLIENTS)/venv/.set-up: $(CLIENTS)/requirements.txt
	$(PYTHON) -m venv $(CLIENTS)/venv
	$(CLIENTS)/venv/bin/python -m pip install --disable-pip-version-check --quiet -r $(CLIENTS)/requirements.txt
	@touch $@

# All clients; the frameworks, each in an environment that suits it; and the client in Rust.
FRAMEWORKS := more openai2 litellm ollama
clients-more: program $(CLIENTS)/node_modules/.set-up $(CLIENTS)/venv/.set-up $(FRAMEWORKS:%=$(CLIENTS)/venv-%/.set-up)
	cd $(CLIENTS)/async_openai && $(CARGO) build --quiet --target-dir $(CURDIR)/target/clients
	$(CLIENTS_RUN)
	$(CLIENTS_RUN) more

$(FRAMEWORKS:%=$(CLIENTS)/venv-%/.set-up): $(CLIENTS)/venv-%/.set-up: $(CLIENTS)/requirements-%.txt
	$(PYTHON) -m venv $(CLIENTS)/venv-$*
	$(CLIENTS)/venv-$*/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

$(SCALE)/venv/.set-up: $(SCALE)/requirements.txt
	$(PYTHON) -m venv $(SCALE)/venv
	$(SCALE)/venv/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

# The crate without features and with those that programs choose most; and no tokio in what
# must work without it. `lint` has looked at all features together.
check:
	@for features in $(CHECKED); do \
		echo "check $$features"; \
		$(CARGO) check -p toolgraft --quiet --lib --features "$${features#none}" || exit 1; \
	done
	@for features in "" prompt validate prompt,validate; do \
		tree=$$($(CARGO) tree -p toolgraft -e normal --features "$$features" --prefix none) || exit 1; \
		if echo "$$tree" | grep -q '^tokio '; then echo "tokio came in with the features '$$features'"; exit 1; fi; \
	done

# Each feature alone; warnings are errors.
each-feature:
	$(CARGO) clippy -p toolgraft -- -D warnings
	@for feature in $(FEATURES); do \
		echo "check $$feature"; \
		$(CARGO) clippy -p toolgraft --quiet --features $$feature -- -D warnings || exit 1; \
	done

# The code for Windows, type-checked and linted; nothing is linked or run. The TLS library and
# SQLite are C, which wants a C compiler for that target. Skipped where one of them is missing.
WINDOWS := x86_64-pc-windows-gnu
check-windows:
	@if ! rustup target add $(WINDOWS); then \
		echo "skipped: there is no standard library for $(WINDOWS)"; \
	elif ! command -v x86_64-w64-mingw32-gcc > /dev/null; then \
		echo "skipped: there is no C compiler for $(WINDOWS) (Debian: gcc-mingw-w64-x86-64)"; \
	else \
		$(CARGO) clippy --target $(WINDOWS) --all-targets -- -D warnings; \
	fi

# The crates as they are published: packed from cargo's own list, unpacked and built, with the
# workspace's lock and what is built already.
package:
	$(CARGO) package -p toolgraft -p toolgraft-mcp -p toolgraft-serve --locked --offline --allow-dirty --all-features

# The command as it is handed out: a static binary with completions and manual pages, and a
# container file (dist/build, docs/install.md).
dist:
	CARGO="$(CARGO)" PYTHON="$(PYTHON)" dist/build

# Known faults of dependencies, from a database that cargo-audit fetches; skipped where that is
# not installed. Licences are a test (tests/project/licences.rs).
advisories:
	@if ! $(CARGO) audit --version > /dev/null 2>&1; then \
		echo "skipped: cargo-audit is not installed (cargo install cargo-audit)"; \
	else \
		$(CARGO) audit; \
	fi

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# It shares nothing with the rest and takes a minute.
lint-benches:
	cd benches && $(CARGO) clippy --all-targets -- -D warnings

fmt-check:
	$(CARGO) fmt --check
	cd benches && $(CARGO) fmt --check

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --workspace

# Times of every case beside its floor; see docs/performance.md.
bench:
	cd benches && $(CARGO) bench

# `extract` over 100,000 records, by one core and by all, by the command as it is handed out.
bench-extract:
	$(CARGO) build --profile dist --quiet
	cd benches && $(CARGO) build --release --quiet --bin records
	benches/extract.py benches/target/release/records target/dist/toolgraft

# The same content through other parsers; see docs/performance.md.
bench-peers:
	cd benches/peers && $(CARGO) run --release --quiet

# What the MCP hub costs beside bare rmcp. Needs Linux, and a second build of the whole
# MCP client: that is why neither `lint`, `fmt-check` nor CI looks into benches/hub.
bench-hub:
	cd benches/hub && $(CARGO) run --release --quiet

# What `serve` costs beside the endpoint behind it: processor time, delay, memory. Linux only;
# by the command as it is handed out.
bench-serve:
	$(CARGO) build --profile dist --quiet
	cd benches/serve && $(CARGO) run --release --quiet -- $(CURDIR)/target/dist/toolgraft

# Instructions (by valgrind), allocations and memory against benches/limits.toml; no
# seconds. `bench-limits` lowers the limits to what is counted now and 5 %. What was counted
# and kept them is written to benches/counted; `bench-changed`, which a landing runs, counts
# only where that is something else.
COUNTED := src/parse src/json src/dialect src/event crates/toolgraft-serve/src benches/src
COUNTED_NOW = find $(COUNTED) -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c 1-64
SMOKE_COUNT := cd benches && $(CARGO) build --release --quiet --bin pass && $(CARGO) run --release --quiet --bin smoke

bench-smoke:
	$(SMOKE_COUNT)
	@$(COUNTED_NOW) > benches/counted

bench-changed:
	@if [ "$$($(COUNTED_NOW))" = "$$(cat benches/counted)" ]; then \
		echo "nothing has changed in $(COUNTED) since it was counted"; \
	else \
		$(MAKE) --no-print-directory bench-smoke; \
	fi

bench-repetitions:
	$(SMOKE_COUNT) -- repetitions

bench-limits:
	$(SMOKE_COUNT) -- lower

# Fuzzing: a free walk that goes on from the last one, SECONDS in all, shared by the targets
# in TARGET. On nightly where there is one, else on stable with its flags allowed.
SECONDS    ?= 600
TARGET     ?= config copied grammar json laws recording repair validate
TOOLS      := $(CURDIR)/target/tools
CARGO_FUZZ := $(TOOLS)/bin/cargo-fuzz
FUZZ_CARGO := $(shell rustup toolchain list 2>/dev/null | grep -q nightly && echo 'cargo +nightly' || echo 'env RUSTC_BOOTSTRAP=1 cargo')

# `config` alone needs the MCP client, which takes minutes to build.
FUZZ_RUN   := PATH="$(TOOLS)/bin:$$PATH" $(FUZZ_CARGO) fuzz run --sanitizer none
FUZZ_BUILD := PATH="$(TOOLS)/bin:$$PATH" $(FUZZ_CARGO) fuzz build --sanitizer none
FUZZ_BUILT := $(CURDIR)/fuzz/target/$(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')/release
FUZZ_WITH  := $$([ $$target != config ] || echo --features mcp; [ $$target != validate ] || echo --features validate; [ $$target != copied ] || echo --features turn)
FUZZ_DICT  := $$([ ! -f fuzz/$$target.dict ] || echo -dict=fuzz/$$target.dict)

$(CARGO_FUZZ):
	$(CARGO) install cargo-fuzz --locked --quiet --root $(TOOLS)

fuzz: $(CARGO_FUZZ)
	@set -e; for target in $(TARGET); do \
		fuzz/seed.sh $$target; \
		$(FUZZ_RUN) $(FUZZ_WITH) $$target -- $(FUZZ_DICT) -max_total_time=$$(($(SECONDS) / $(words $(TARGET)))) $(FUZZ_ARGS); \
	done

# What `cargo test` replays (fixtures/fuzz), made anew: of the seeds and of a walk of
# SECONDS for each target in TARGET, what reaches more than all smaller inputs do.
fuzz-corpus: $(CARGO_FUZZ)
	@set -e; for target in $(TARGET); do \
		$(FUZZ_BUILD) $(FUZZ_WITH) $$target; \
		fuzz/corpus.sh $(FUZZ_BUILT)/$$target $$target $(SECONDS); \
	done

clean-servers:
	rm -rf $(SERVERS)/node_modules $(VENV) $(VENV1) $(CLIENTS)/node_modules $(CLIENTS)/venv $(CLIENTS)/venv-* $(SCALE)/venv tests/canitoolcall/venv tests/live/venv tests/browser/node_modules tests/browser/unpacked $(BINDING)/venv-build $(BINDING)/venv-types $(BINDING)/venv-test $(NODE_BINDING)/installed $(NODE_TESTS)/node_modules
