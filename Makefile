# Reeve's commands. `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# One target folder outside the checkout, so that a fresh clone finds its dependencies built.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/reeve/target

# Where tests/setup.sh puts a Node of its own when the system's is too old; elsewhere the folder doesn't exist.
export PATH := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/reeve/node/node_modules/.bin:$(PATH)

DATA ?= data
PORT ?= 8080
ONLY ?=
TRACES ?=

.PHONY: help setup build console demo test bench fmt sqlx openapi

help: ## list these commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

setup: ## install what is missing: PostgreSQL and the console's packages
	@tests/setup.sh demo

console: setup
	cd frontend && npm run build

build: console ## build the server, the agent and the console
	cargo build --workspace --bins

demo: build ## run it all live on this machine (DATA=data PORT=8080); Ctrl-C stops it
	exec "$(CARGO_TARGET_DIR)/debug/reeve" demo --data "$(DATA)" --port "$(PORT)"

test: ## check everything: formats, lints, Rust, console, browser, faults, drift
	@tests/run.sh

bench: setup ## measure and print the figures (ONLY=E for one section, TRACES=folder of published traces); asserts nothing
	cargo build --release --workspace --bins
	exec "$(CARGO_TARGET_DIR)/release/reeve" bench $(if $(ONLY),--only $(ONLY)) $(if $(TRACES),--data "$(TRACES)")

fmt: ## format Rust and TypeScript
	cargo fmt
	cd frontend && npm run format

sqlx: ## check every query against PostgreSQL and write .sqlx anew
	cargo build -p reeve
	d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && "$(CARGO_TARGET_DIR)/debug/reeve" postgres run --throwaway --data "$$d/postgres" -- backend/store/prepare.sh

openapi: ## write openapi/openapi.json and the console's types anew
	cargo run -q -p reeve -- openapi > openapi/openapi.json
	cd frontend && npm run types
