# A job of the demo: works in steps of a second, saves when it is told to leave, and goes on from there. $1: steps.
progress="$REEVE_CHECKPOINT_DIR/progress"
step=0
told=
if [ "${REEVE_RESUME:-}" = 1 ] && [ -s "$progress" ]; then
    step=$(cat "$progress")
    echo "run $REEVE_RUN: resuming after step $step of $1 on GPUs $CUDA_VISIBLE_DEVICES of $REEVE_NODE"
else
    echo "run $REEVE_RUN: starting $1 steps on GPUs $CUDA_VISIBLE_DEVICES of $REEVE_NODE"
fi
save() { echo "$step" > "$progress.new" && mv "$progress.new" "$progress"; }
# USR1 reaches sleep too and ends it, which only makes this step short.
trap 'told=1' USR1
trap 'echo "stopped after step $step"; exit 143' TERM
while [ "$step" -lt "$1" ] && [ -z "$told" ]; do
    sleep 1
    step=$((step + 1))
    [ $((step % 10)) -ne 0 ] || { save; echo "step $step of $1, loss 0.$((900 * 10 / (step + 10) + 99))"; }
done
if [ -n "$told" ]; then
    echo "told to leave: $(cat "$REEVE_EVICTION_FILE")"
    # Writing a real checkpoint takes a while.
    sleep 2
    save
    echo "saved after step $step"
    : > "$REEVE_CHECKPOINT_DIR/.acknowledged"
    # Its end comes from the agent: ending by itself would mean that the work is done.
    while :; do sleep 1; done
fi
echo "done"
