# The verbs that operators and developers use; each works from a fresh clone with Node, npm and make.

# Values reach the programs through the environment exactly as given: neither make nor the shell may expand `$(...)` in them.
GIVEN := SCALE SHARE SEED TABLES REQUESTS SECONDS TABLE FILE MEMBER DATASET ACCEPT_DRIFT QUIET \
  $(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))
$(foreach name,$(GIVEN),$(if $(value $(name)),$(eval override $(name) := $$(value $(name)))$(eval export $(name))))

.PHONY: serve test test-all test-long ingest check verify rollback suggest init add sample bench bench-peers fuzz soak test-cluster audit sbom package deploy-check build format

serve: build
	@npm run -s acervo -- sample --if-none
	@npm run -s acervo -- ingest --unpublished || echo 'some tables were not published, see above; serving the others'
	@npm run -s start

# Format, lint, types, and the tests that need only Node. A few minutes.
test: node_modules/.package-lock.json
	@npm test

# Every test, with the real components that are installed; the end says what was missing.
test-all: node_modules/.package-lock.json
	@npm run -s test-all

# The tests of random input with hours of it, or the SHARE of them.
test-long: build
	@npm run -s test-long

# Past one machine: an object store and what stands around it, each started by the tests where it is there.
test-cluster: build
	npm run -s jest -- test/cluster test/core/store

ingest: build
	@npm run -s acervo -- ingest $(if $(ACCEPT_DRIFT),--accept-drift) $(if $(QUIET),--quiet) -- $$TABLES

check: build
	@npm run -s acervo -- check $(if $(ACCEPT_DRIFT),--accept-drift) -- $$TABLES

verify: build
	@npm run -s acervo -- verify -- $$TABLES

suggest: build
	@npm run -s acervo -- suggest $(if $(MEMBER),--member="$$MEMBER") -- $(if $(FILE),"$$FILE")

init: build
	@npm run -s acervo -- init

add: build
	@npm run -s acervo -- add $(if $(DATASET),--dataset="$$DATASET") $(if $(TABLE),--table="$$TABLE") $(if $(MEMBER),--member="$$MEMBER") -- $(if $(FILE),"$$FILE")

rollback: build
	@npm run -s acervo -- rollback -- $(if $(TABLE),"$$TABLE")

sample: build
	@npm run -s acervo -- sample -- $$TABLES

bench: build
	@npm run -s bench

# Beside Datasette and Django REST framework, which it installs for itself with pip.
bench-peers: build
	@npm run -s bench-peers

# Requests of every kind against the program itself, from SEED on.
fuzz: build
	@REQUESTS="$${REQUESTS:-1000000}" npm run -s jest -- test/fuzz

# Two workers, 200 readers and refreshes, for so many seconds.
soak: build
	@SOAK="$${SECONDS:-3600}" npm run -s jest -- test/soak

# Known faults of what ships; a registry that cannot be asked is told.
audit: build
	@npm run -s audit

# The files below deploy/, by the real programs that read them; what is not installed is told.
deploy-check: build
	@npm run -s jest -- test/deploy

# What ships, as CycloneDX.
sbom: build
	@npm run -s sbom

# The package as npm publishes it, built anew, and tested as installed.
package: node_modules/.package-lock.json
	@rm -rf dist && $(MAKE) -s build && npm pack --ignore-scripts && LEVEL=all npm run -s jest:built -- test/package

# Where it is installed without what it is built with, it is built already. What did not change is not built again.
build: node_modules/.package-lock.json
	@if [ ! -e dist/.built ] || [ -n "$$(find core server ingest bench deploy test tsconfig.json package.json node_modules/.package-lock.json \
	  \( -newer dist/.built -o -cnewer dist/.built \) -print -quit 2>/dev/null)" ]; then \
	  if [ -e node_modules/.bin/tsc ] || [ ! -e dist/server/process/main.js ]; then \
	    mkdir -p dist && touch dist/.building && npm run -s build && mv dist/.building dist/.built; fi; fi

format: node_modules/.package-lock.json
	npm run format

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
