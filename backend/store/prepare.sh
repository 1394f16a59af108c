#!/bin/sh
# Checks every query of reeve-store against a scratch database and writes .sqlx anew.
#
#   backend/store/prepare.sh [postgres://user@host:port]
#
# The server comes from the argument, else from REEVE_TEST_DATABASE_URL; its last path segment is ignored. The
# scratch database is dropped again. Needs psql; honours CARGO_TARGET_DIR.
set -eu
cd "$(dirname "$0")/../.."
server=${1:-${REEVE_TEST_DATABASE_URL:-}}
[ -n "$server" ] || { echo "prepare: name a PostgreSQL server: prepare.sh postgres://user@host:port" >&2; exit 2; }
# postgres://user@host:port/name → postgres://user@host:port
server=$(printf '%s' "$server" | sed -E 's#^(postgres(ql)?://[^/?]+).*#\1#')
scratch="reeve_prepare_$$"
psql -q "$server/postgres" -c "create database $scratch"
new=$(mktemp -d "${TMPDIR:-/tmp}/reeve-sqlx.XXXXXX")
trap 'psql -q "$server/postgres" -c "drop database if exists $scratch with (force)"; rm -rf "$new"' EXIT INT TERM
for file in migrations/*.sql; do
    psql -q -v ON_ERROR_STOP=1 --single-transaction "$server/$scratch" -f "$file"
done
# A touched root makes the compiler expand every query once more, so that what is no longer asked disappears.
touch backend/store/src/lib.rs
SQLX_OFFLINE=false DATABASE_URL="$server/$scratch" SQLX_OFFLINE_DIR="$new" cargo check -q -p reeve-store --lib
[ -n "$(ls "$new")" ] || { echo "prepare: no query was checked" >&2; exit 1; }
mkdir -p .sqlx
rm -f .sqlx/query-*.json
cp "$new"/query-*.json .sqlx/
echo "prepare: $(ls .sqlx | wc -l) queries described in .sqlx"
