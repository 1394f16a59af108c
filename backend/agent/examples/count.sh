#!/bin/sh
# A job that saves now and then and asks whether it is told to leave: no signal, only a shell.
#
#     reeve submit -G 1 --checkpoint periodic -- sh count.sh 1000
#
# It walks the same chain of numbers as count.py. A shell is the wrong place for a checkpoint signal: it goes to every process
# of the job, and would end the `mv` that is just writing the checkpoint. So this one looks, once a step, whether it is
# to leave; then it says so, saves, and waits to be stopped, which is at once. If it left by itself, it would be finished.
set -eu

steps=$1
step_secs=${2:-0.1}
save_every_steps=50
state=$REEVE_CHECKPOINT_DIR/state

save() {
    echo "$step $value" >"$state.tmp"
    sync "$state.tmp"
    mv "$state.tmp" "$state"
    reeve-ctl checkpoint
}

step=0 value=1
if [ -e "$state" ]; then
    read -r step value <"$state"
fi
how=starts
[ -z "${REEVE_RESUME-}" ] || how=resumes
echo "attempt $REEVE_ATTEMPT $how after step $step"
while [ "$step" -lt "$steps" ]; do
    step=$((step + 1))
    value=$(((value * 1103515245 + step) % 2147483648))
    echo "step $step"
    sleep "$step_secs"
    if reeve-ctl leaving >/dev/null; then
        # Before it saves: once Reeve hears of the checkpoint, the job may be stopped at any moment.
        echo "leaves after step $step"
        save
        while :; do sleep 1; done
    fi
    if [ $((step % save_every_steps)) -eq 0 ]; then
        save
    fi
done
save
echo "result $value"
