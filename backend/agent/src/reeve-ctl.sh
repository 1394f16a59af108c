#!/bin/sh
# What a job tells Reeve, and asks it. Any program can do the same without this one: two plain files are all there is.
# Only what every shell has built in, because the job's PATH is its own.
set -eu

usage() {
    echo 'usage: reeve-ctl checkpoint   say that a checkpoint is written, complete and on disk'
    echo '       reeve-ctl leaving      succeed if this job is told to leave, and print by when and why (JSON)'
}

case "${1-}" in
checkpoint)
    echo written >"${REEVE_CHECKPOINT_FILE:?not set: this is no job of Reeve}"
    ;;
leaving)
    [ -e "${REEVE_EVICTION_FILE:?not set: this is no job of Reeve}" ] || exit 1
    # The file has no newline at its end, so that read fails on its last line and still has it.
    IFS= read -r notice <"$REEVE_EVICTION_FILE" || [ -n "$notice" ]
    printf '%s\n' "$notice"
    ;;
-h | --help | help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
