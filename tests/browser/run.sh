#!/usr/bin/env bash
# The console in a real Chromium, against the demo: a server, agents and a workload that lends and recalls.
#
#   tests/browser/run.sh <reeve binary> <scratch folder>
set -euo pipefail
cd "$(dirname "$0")/../.."
reeve=$1
scratch=$2
log=$scratch/demo.log

# Port 0: a free one. The demo ends by itself should this script be killed.
"$reeve" demo --data "$scratch/demo" --port 0 --duration 900 >"$log" 2>&1 &
demo=$!
finish() {
    code=$?
    kill -INT "$demo" 2>/dev/null || true
    wait "$demo" 2>/dev/null || true
    [ "$code" = 0 ] || { echo "--- the demo said:" >&2; tail -n 40 "$log" >&2; }
    exit "$code"
}
trap finish EXIT

address=
for _ in $(seq 240); do
    address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$log" | head -n 1 || true)
    [ -n "$address" ] && grep -q 'admin' "$log" && break
    kill -0 "$demo" 2>/dev/null || { echo "the demo ended early" >&2; exit 1; }
    sleep 0.5
done
[ -n "$address" ] || { echo "the demo printed no address within two minutes" >&2; exit 1; }
password=$(sed -nE 's/^ *admin +([^ ]+).*/\1/p' "$log" | head -n 1)
[ -n "$password" ] || { echo "the demo printed no password for admin" >&2; exit 1; }

cd frontend
export BASE_URL=$address REEVE_USER=admin REEVE_PASSWORD=$password REEVE_TEAM=vision
node browser/ready.mjs
npm run --silent browser
