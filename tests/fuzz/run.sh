#!/usr/bin/env bash
# Fuzzes the REST API from its own document: Schemathesis with all checks, stateful, against a live server.
#
#   tests/fuzz/run.sh [REEVE [EXAMPLES [OPTION…]]]   the binary, examples for each operation (30), options of Schemathesis
#
# It needs Python and installs Schemathesis into the cache, once. PostgreSQL and server are started here, on free ports,
# and gone at the end. It is no part of `make test`: it takes some ten minutes. Exit 1 = something was found.
#
# Left out: `revoke_token`, with which it takes the key from itself, and the agents' operations, which need a node.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/reeve/target}
reeve=${1:-$target/debug/reeve}
examples=${2:-30}
venv=${XDG_CACHE_HOME:-$HOME/.cache}/reeve/schemathesis
version=4.32.5
scratch=$(mktemp -d "${TMPDIR:-/tmp}/reeve-fuzz.XXXXXX")
chmod 755 "$scratch"

if [ ! -x "$venv/bin/schemathesis" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "schemathesis==$version"
fi

# Called again below, with a database.
if [ -z "${REEVE_TEST_DATABASE_URL:-}" ]; then
    trap 'rm -rf "$scratch"' EXIT
    "$reeve" postgres run --throwaway --data "$scratch/postgres" -- "$PWD/tests/fuzz/run.sh" "$reeve" "$examples" "${@:3}"
    exit
fi

server=
finish() {
    code=$?
    if [ -n "$server" ]; then kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; fi
    if [ "$code" != 0 ]; then
        echo "the server's last lines:" >&2
        grep -E 'ERROR|panicked' "$scratch/server.log" | tail -20 >&2 || true
    fi
    rm -rf "$scratch"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
database=reeve_fuzz_$$
base=${REEVE_TEST_DATABASE_URL%/*}
psql -q "$REEVE_TEST_DATABASE_URL" -c "create database $database"
REEVE_DATABASE_URL=$base/$database REEVE_ADMIN_PASSWORD=correct-horse-battery REEVE_RATE_LIMIT_PER_SECOND=100000 \
    "$reeve" serve --listen "127.0.0.1:$port" >>"$scratch/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do curl -fs "$url/readyz" >/dev/null && break; sleep 0.2; done
# That it was not ready yet is no error.
: >"$scratch/server.log"

call() { curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@" >/dev/null; }
field() { python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }
token=$(curl -fsS -H 'Content-Type: application/json' \
    -d '{"username": "admin", "password": "correct-horse-battery"}' "$url/api/v1/auth/sign-in" | field access_token)
token=$(curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"name": "fuzz", "scopes": ["read", "write", "admin"]}' "$url/api/v1/tokens" | field token)
# Something to find, so that more is reached than 404.
call -d '{"slug": "h100", "name": "H100"}' "$url/api/v1/pools"
call -d '{"slug": "team-a", "name": "Team A"}' "$url/api/v1/teams"
call -d '{"slug": "team-a-q", "name": "Queue", "team": "team-a"}' "$url/api/v1/queues"
call -d '{"name": "train", "team": "team-a", "command": ["true"]}' "$url/api/v1/jobs"

config=$PWD/tests/fuzz/schemathesis.toml
cd "$scratch" # where it keeps what crashed
"$venv/bin/schemathesis" --config-file "$config" run "$url/api/openapi.json" \
    --header "Authorization: Bearer $token" --checks all --max-examples "$examples" \
    --phases examples,coverage,fuzzing,stateful --continue-on-failure --request-timeout 35 \
    --exclude-operation-id revoke_token --exclude-path-regex '^/agent/' --suppress-health-check all --no-color "${@:3}"
if grep -qE ' ERROR |panicked' "$scratch/server.log"; then
    echo "the server logged an error" >&2
    exit 1
fi
