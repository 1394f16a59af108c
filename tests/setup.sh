#!/usr/bin/env bash
# Installs what a fresh machine lacks: with the system's package manager as root, else it says what to install.
#
#   tests/setup.sh demo    what the demo needs: PostgreSQL, Node packages
#   tests/setup.sh test    that, and what the tests need: Chromium, fonts
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:-demo}
NODE_VERSION=22.23.3
NPM_VERSION=10.9.9

say() { printf 'setup: %s\n' "$*" >&2; }

missing=()
has_postgres() {
    command -v initdb >/dev/null && return 0
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && return 0
    command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ]
}
has_chromium() { [ -x /usr/bin/chromium ] || command -v chromium >/dev/null; }
has_cjk_fonts() { command -v fc-list >/dev/null && fc-list :lang=zh | grep -q .; }

command -v cargo >/dev/null || { say "Rust is missing: install it from https://rustup.rs (1.95 or newer)"; exit 1; }
command -v cc >/dev/null || missing+=(build-essential)
has_postgres || missing+=(postgresql)
command -v psql >/dev/null || missing+=(postgresql-client)
command -v npm >/dev/null || missing+=(nodejs npm)
if [ "$purpose" = test ]; then
    has_chromium || missing+=(chromium)
    has_cjk_fonts || missing+=(fontconfig fonts-noto-cjk)
fi

if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        say "install with your package manager, then try again: ${missing[*]}"
        exit 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || { say "as root: apt-get install ${missing[*]}"; exit 1; }
        sudo=sudo
    fi
    say "installing ${missing[*]}"
    $sudo apt-get update -qq
    # The packaged cluster isn't ours: no service is started or needed.
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# Debian 12 ships Node 18. The console's tools need more, and npm can fetch that for us: into the cache, not the system.
node_new_enough() {
    node -e 'const [major, minor] = process.versions.node.split(".").map(Number)
             process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'
}
node_home=${XDG_CACHE_HOME:-$HOME/.cache}/reeve/node
if ! node_new_enough && [ ! -x "$node_home/node_modules/.bin/node" ]; then
    say "Node $(node --version) is too old for the console (20.19 or newer): fetching Node $NODE_VERSION for it"
    mkdir -p "$node_home"
    npm install --prefix "$node_home" --no-audit --no-fund --loglevel=error "node@$NODE_VERSION" "npm@$NPM_VERSION"
fi
if [ -x "$node_home/node_modules/.bin/node" ]; then
    PATH=$node_home/node_modules/.bin:$PATH
    # The system's Node trusts the system's certificates (a company's proxy among them); so shall this one.
    certificates=/etc/ssl/certs/ca-certificates.crt
    [ ! -r "$certificates" ] || export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-$certificates}
fi
if ! node_new_enough; then
    say "Node $(node --version) is too old: the console needs 20.19 or newer (https://nodejs.org)"
    exit 1
fi

# npm ci takes half a minute: only when the lock file is newer than what it installed.
if [ ! -e frontend/node_modules/.package-lock.json ] || [ frontend/package-lock.json -nt frontend/node_modules/.package-lock.json ]; then
    say "installing the console's packages"
    (cd frontend && npm ci --no-audit --no-fund --loglevel=error)
fi
if [ "$purpose" = test ] && { [ ! -e tests/oidc/node_modules/.package-lock.json ] || [ tests/oidc/package-lock.json -nt tests/oidc/node_modules/.package-lock.json ]; }; then
    say "installing an OpenID Connect provider for the tests of signing in"
    (cd tests/oidc && npm ci --no-audit --no-fund --loglevel=error)
fi
