#!/usr/bin/env bash
# Everything that must hold, in the order in which it fails fastest. `make test` calls this; so does CI.
#
# It needs no running service: PostgreSQL and servers are started here, on free ports, and gone at the end, whatever
# happens. STEPS="rust browser" runs only some.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/reeve/target}
export PATH=${XDG_CACHE_HOME:-$HOME/.cache}/reeve/node/node_modules/.bin:$PATH # where setup.sh puts a newer Node
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never} NO_COLOR=1
steps=${STEPS:-setup lint console build rust drift browser}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/reeve-test.XXXXXX")
# A private PostgreSQL under root runs as user postgres, which must be able to reach its folder.
chmod 755 "$scratch"
reeve=$CARGO_TARGET_DIR/debug/reeve

children=()
finish() {
    code=$?
    for pid in "${children[@]:-}"; do
        [ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    rm -rf "$scratch"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

step() {
    case " $steps " in *" $1 "*) ;; *) return 1 ;; esac
    printf '\n== %s (%s s)\n' "$1" "$SECONDS"
}

with_postgres() { "$reeve" postgres run --throwaway --data "$scratch/postgres" -- "$@"; }

if step setup; then tests/setup.sh test; fi

if step lint; then
    cargo fmt --check
    cargo clippy --workspace --all-targets --quiet -- -D warnings
fi

if step console; then
    (cd frontend && npm run --silent lint && npm run --silent typecheck && npm run --silent test &&
        npm run --silent build && npm run --silent budget)
fi

# After the console, which the server carries in itself.
if step build; then cargo build --workspace --bins --quiet; fi

if step rust; then
    if cargo nextest --version >/dev/null 2>&1; then
        with_postgres cargo nextest run --workspace --no-fail-fast
    else
        with_postgres cargo test --workspace --no-fail-fast
    fi
fi

if step drift; then
    "$reeve" openapi >"$scratch/openapi.json"
    diff -u openapi/openapi.json "$scratch/openapi.json" >&2 || { echo "openapi/openapi.json is stale: make openapi" >&2; exit 1; }
    (cd frontend && npm run --silent types:check)
    cp -r .sqlx "$scratch/sqlx"
    with_postgres backend/store/prepare.sh
    diff -r "$scratch/sqlx" .sqlx >&2 || { echo ".sqlx was stale: it is new now, commit it" >&2; exit 1; }
fi

if step browser; then tests/browser/run.sh "$reeve" "$scratch"; fi

printf '\n== all passed (%s s)\n' "$SECONDS"
