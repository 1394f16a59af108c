#!/usr/bin/env bash
# The console in a real Chromium, against the demo: a server, agents and a workload that lends and recalls; and against
# a second one without a workload, for stories in which nothing else may happen.
#
#   tests/browser/run.sh <reeve binary> <scratch folder>
set -euo pipefail
cd "$(dirname "$0")/../.."
reeve=$1
scratch=$2
demos=()

finish() {
    code=$?
    for demo in "${demos[@]}"; do kill -INT "$demo" 2>/dev/null || true; done
    for demo in "${demos[@]}"; do wait "$demo" 2>/dev/null || true; done
    if [ "$code" != 0 ]; then
        for log in "$scratch"/*.log; do echo "--- $log said:" >&2; tail -n 40 "$log" >&2; done
    fi
    exit "$code"
}
trap finish EXIT

# Port 0: a free one. The demo ends by itself should this script be killed.
start() {
    name=$1
    shift
    "$reeve" demo --data "$scratch/$name" --port 0 --duration 2400 "$@" >"$scratch/$name.log" 2>&1 &
    demos+=($!)
}

# Sets address and password as the demo of this name printed them.
await() {
    log=$scratch/$1.log
    address=
    for _ in $(seq 240); do
        address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$log" | head -n 1 || true)
        [ -n "$address" ] && grep -q 'admin' "$log" && break
        kill -0 "$2" 2>/dev/null || { echo "the demo $1 ended early" >&2; exit 1; }
        sleep 0.5
    done
    [ -n "$address" ] || { echo "the demo $1 printed no address within two minutes" >&2; exit 1; }
    password=$(sed -nE 's/^ *admin +([^ ]+).*/\1/p' "$log" | head -n 1)
    [ -n "$password" ] || { echo "the demo $1 printed no password for admin" >&2; exit 1; }
}

# Webhooks of the second may go to a receiver on this machine.
printf '[notify]\nallowed_networks = ["127.0.0.1/32"]\n' >"$scratch/quiet.toml"
start busy
start quiet --no-workload --config "$scratch/quiet.toml"
await quiet "${demos[1]}"
export QUIET_URL=$address QUIET_PASSWORD=$password
await busy "${demos[0]}"
export BASE_URL=$address REEVE_USER=admin REEVE_PASSWORD=$password REEVE_TEAM=vision

cd frontend
node browser/ready.mjs
npm run --silent browser
