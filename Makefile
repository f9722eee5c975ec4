# Two commands: `make lab` opens the labs, `make test` runs every kind of test. Both set everything
# up first. `make test-long` runs what repeats these tests on more cases.
# Kept to what GNU make 3.81 knows, which is what macOS has.

PYTHONS = python3 python3.13 python3.12 python3.11 python3.14
BIN     = .venv/bin
STAMP   = .venv/.set-up

.PHONY: lab site docs release test test-long setup budget bench lint chromium clean judge judge-long judge-record judge-recorded hole \
  fleet-long

lab: setup
	@$(BIN)/kiplab lab

# The labs without a server, in one folder for any web server; `make site SITE=public` names another.
SITE = build/site
site: $(STAMP)
	@$(BIN)/kiplab site -o $(SITE)

# How it works, the API and the commands, as pages and as a man page; `make docs DOCS=public/docs` names another folder.
DOCS = build/docs
SPHINX = $(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees
docs: $(STAMP)
	@$(SPHINX) -E assets/docs $(DOCS)
	@$(SPHINX) -b man assets/docs $(DOCS)

# Wheel, source, site and checksums of the last commit, in a new folder.
RELEASE = build/release
release: $(STAMP)
	@$(BIN)/python assets/release.py $(RELEASE)

PYTEST = $(BIN)/python -m pytest --dist loadfile -n

# Workers, kernels and commands of the tests import the same modules: each is compiled once.
test test-long: export PYTHONDONTWRITEBYTECODE =

# A third worker uses the time in which the others wait for a browser.
test: setup chromium
	$(PYTEST) 3 -m "not long"

test-long: setup chromium
	$(PYTEST) 2 -m long

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/mypy

# How large the house is, and how large it may be.
budget: $(STAMP)
	$(BIN)/python -m tests.budget

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py
	$(BIN)/python tests/bench/models.py
	$(BIN)/python tests/bench/repaint.py
	$(BIN)/python tests/bench/pixels.py
	$(BIN)/python tests/bench/site.py
	$(BIN)/python tests/bench/explore.py
	$(BIN)/python tests/bench/rare_rates.py
	$(BIN)/python tests/bench/fleet_kernel.py
	$(BIN)/python tests/bench/import_log.py

# Real Kafka beside the engine; `make judge PAIRS="3.7 3.7/3.5-IV2"` asks these alone.
JUDGE = $(BIN)/python -m tests.judge kraft
# The leader's side, by Kafka's own Partition, and the proposal that it forgets.
PARTITION = $(BIN)/python -m tests.judge partition
# What brokers of ZooKeeper's years accept from a controller.
ACCEPTANCE = $(BIN)/python -m tests.judge brokers
# Controllers of ZooKeeper's years; `make judge CONTROLLERS=2.2.2` asks one release.
CONTROLLERS_JUDGE = $(BIN)/python -m tests.judge controllers
SCHEDULES = $(BIN)/python -m tests.judge schedules
# ZooKeeper itself.
ZOOKEEPER_JUDGE = $(BIN)/python -m tests.judge zookeeper

judge: $(STAMP)
	$(JUDGE) --coverage $(PAIRS)
	$(if $(PAIRS),,$(PARTITION))
	$(if $(PAIRS),,$(ACCEPTANCE))
	$(if $(PAIRS),,$(CONTROLLERS_JUDGE) $(CONTROLLERS))
	$(if $(PAIRS),,$(ZOOKEEPER_JUDGE))

# Hundreds of situations by chance for each of those releases, or for `LONG=2.2.2`; it
# goes on where it stopped.
judge-long: $(STAMP)
	$(SCHEDULES) --count 300 --into .judge-long $(LONG)

judge-recorded: $(STAMP)
	$(JUDGE) --recorded --coverage $(PAIRS)
	$(if $(PAIRS),,$(PARTITION) --recorded)
	$(if $(PAIRS),,$(ACCEPTANCE) --recorded)
	$(if $(PAIRS),,$(CONTROLLERS_JUDGE) --recorded $(CONTROLLERS))

judge-record: $(STAMP)
	$(JUDGE) --record $(PAIRS)
	$(if $(PAIRS),,$(PARTITION) --record)
	$(if $(PAIRS),,$(ACCEPTANCE) --record)
	$(if $(PAIRS),,$(CONTROLLERS_JUDGE) --record $(CONTROLLERS))
	$(if $(PAIRS),,$(SCHEDULES) --record 2.2.2 3.4.1)
	$(if $(PAIRS),,$(BIN)/python -m tests.judge.side_by_side --record)
	$(if $(PAIRS),,$(BIN)/python -m pytest --rewrite tests/judge/test_control_plays.py)

# Real clusters, until an acknowledged record is gone; `make hole HOLE="--kafka 3.9 --attempts 3"`.
hole: $(STAMP)
	$(BIN)/python -m tests.judge.real_cluster.make_hole $(HOLE)

# Schedules by chance, all small ones, and those of the race through the fleet's kernel and the engine;
# it goes on where it stopped. `make fleet-long LONG="--seed 7 --count 1000000"` asks others.
AGREEMENT = $(BIN)/python -m tests.fleet.agreement.compare_command
fleet-long: $(STAMP)
	mkdir -p .fleet-long
	$(AGREEMENT) --count 100000 --file .fleet-long/random.json $(LONG)
	$(AGREEMENT) --small 5 --count 1000000 --file .fleet-long/small.json
	$(AGREEMENT) --races --count 20000 --file .fleet-long/races.json $(LONG)

# What a machine lacks is said here and never stops the labs that do without it.
setup: $(STAMP)
	@$(BIN)/kiplab doctor || true

$(STAMP): pyproject.toml constraints.txt
	@python=; for candidate in $(PYTHONS); do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'kiplab needs Python 3.11 or later and found none on PATH.' \
	    'Install it (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python)' \
	    'and run make again.' >&2; exit 3; \
	fi; \
	test -x $(BIN)/pip || $$python -m venv .venv || { \
	  echo 'That Python cannot make virtual environments;' \
	    'on Debian and Ubuntu: apt-get install python3-venv, then run make again.' >&2; exit 3; }
	@echo 'Installing into .venv; the first time this takes a few minutes and 2 GB.'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
	  -e '.[lab,fleet,java,export,site,test]'
	@echo 'Compiling large searches and the fleet, which takes a minute.'
	$(BIN)/python binder/compile
	@touch $@

# A browser for the browser tests: one on PATH, else Debian's when allowed to, else Playwright's own.
chromium: $(STAMP)
	@has='$(BIN)/python -c "import sys; from kiplab.pages.browser_picture import find_chromium as f; sys.exit(not f())"'; \
	if eval "$$has"; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo 'Installing Chromium for the browser tests.'; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	    --no-install-recommends chromium fonts-liberation; } >/dev/null || true; \
	fi; \
	if eval "$$has"; then exit 0; fi; \
	$(BIN)/python -m playwright install chromium || \
	  echo 'No Chromium could be got: the browser tests will say so.' >&2

clean:
	rm -rf .venv dist build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find kiplab tests -name __pycache__ -type d -prune -exec rm -rf {} +
