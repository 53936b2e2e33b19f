# The verbs that operators and developers use; each works from a fresh clone with Node, npm and make.

SCALE ?= 1
SHARE ?= 1
SEED ?= $(shell date +%s)
TABLES ?=

TABLE ?=
FILE ?=
ACCEPT_DRIFT ?=

.PHONY: serve test test-long ingest verify rollback suggest sample bench build format

serve: build
	@npm run -s sample -- --if-none
	@npm run -s ingest -- --unpublished || echo 'some tables were not published, see above; serving the others'
	@npm run -s start

test: node_modules/.package-lock.json
	npm test

# The tests of random input, as long as they were meant: hours, or the share of them that is asked for.
test-long: build
	@SHARE=$(SHARE) SEED=$(SEED) npm run -s test-long

ingest: build
	@npm run -s ingest -- $(if $(ACCEPT_DRIFT),--accept-drift) $(TABLES)

verify: build
	@npm run -s verify -- $(TABLES)

suggest: build
	@npm run -s suggest -- $(if $(FILE),'$(FILE)')

rollback: build
	@npm run -s rollback -- $(TABLE)

sample: build
	@npm run -s sample -- --scale=$(SCALE) $(TABLES)

bench: build
	@SCALE=$(SCALE) npm run -s bench

build: node_modules/.package-lock.json
	@npm run -s build

format: node_modules/.package-lock.json
	npm run format

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@
