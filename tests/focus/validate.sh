#!/usr/bin/env bash
# Runs the official FOCUS validator (PyPI: focus-validator) over an export. A documented check, no part of `make test`: it installs some
# hundred megabytes and needs Python 3.12 or newer.
#
#   tests/focus/validate.sh FILE.csv      from `reeve operations export --format focus`, or the test's own:
#                                         $CARGO_TARGET_DIR/tmp/focus.csv after `cargo test -p reeve-tests --test api money_month`
#
# The validator exits with 0 whatever it finds: read its `Total … Fail:` line, which this prints last.
set -euo pipefail
file=$(realpath "${1:?name an export}")
home=${XDG_CACHE_HOME:-$HOME/.cache}/reeve/focus
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { echo "Python 3.12 or newer is needed: set PYTHON" >&2; exit 2; }
if [ ! -x "$home/bin/focus-validator" ]; then
    "$python" -m venv "$home"
    "$home/bin/pip" install -q 'focus-validator==2.2.1' 'pyarrow==20.*'
fi
# It looks for its rules beside itself.
cd "$("$home/bin/python" -c 'import focus_validator, pathlib; print(pathlib.Path(focus_validator.__file__).parent.parent)')"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# What an installation of Reeve has of what the standard makes conditional; the rest is skipped (commitments, zones, other currencies).
has=ACCOUNT_NAMING_SUPPORTED,MULTIPLE_PRICING_CATEGORIES_SUPPORTED,MULTIPLE_SUB_ACCOUNT_TYPES_SUPPORTED
has+=,MULTIPLE_BILLING_ACCOUNT_TYPES_SUPPORTED,NEGOTIATED_PRICING_SUPPORTED,PUBLIC_PRICE_LIST_SUPPORTED
has+=,USAGE_MEASUREMENT_SUPPORTED,UNIT_PRICING_SUPPORTED,SUB_ACCOUNT_SUPPORTED
has+=,BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED,RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,REGION_SUPPORTED,TAGGING_SUPPORTED
"$home/bin/focus-validator" --data-file "$file" --validate-version 1.2 --output-type console --block-download \
    --applicability-criteria "$has" "${@:2}" >"$log"
sed -n '/^--- Failures/,$p' "$log"
grep -m 1 '^Total:' "$log"
