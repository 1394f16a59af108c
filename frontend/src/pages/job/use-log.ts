import { useEffect, useState } from "react";
import { readLog } from "../../api/operations";

type Log = { text: string; start: number; complete: boolean; loading: boolean; error: unknown };
const FRESH: Log = { text: "", start: 0, complete: false, loading: true, error: null };
const TAIL_BYTES = 65_536;
const PART_BYTES = 262_144;
const EVERY_MS = 1_500;
const RETRY_MS = 5_000;
/** The page keeps this much; all of it is in the download. */
const MOST_CHARS = 1_000_000;

/** Reads the tail, then what is added to it, until the server says that it is complete. */
export function useLog(job: string, run: number, member: number, follow: boolean): Log {
  const [log, setLog] = useState<Log>(FRESH);
  useEffect(() => {
    if (run < 1) return;
    setLog(FRESH);
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let next: number | null = null;
    let decoder = new TextDecoder();
    const read = async () => {
      const where = next == null ? { tail_bytes: TAIL_BYTES } : { offset: next, limit_bytes: PART_BYTES };
      try {
        const part = await readLog(job, { run, member, ...where }, stop.signal);
        // The server dropped old text in between: what follows does not join on.
        const gap = next != null && part.start > next;
        if (gap) decoder = new TextDecoder();
        const text = decoder.decode(part.bytes, { stream: true });
        const first = next == null;
        next = part.next;
        setLog((before) => ({
          text: ((first ? "" : before.text) + text).slice(-MOST_CHARS),
          start: first ? part.start : before.start,
          complete: part.complete,
          loading: false,
          error: null,
        }));
        const done = part.complete && part.bytes.length === 0;
        const full = part.bytes.length >= PART_BYTES;
        if (!done && follow) timer = setTimeout(read, full || part.complete ? 0 : EVERY_MS);
      } catch (error) {
        if (stop.signal.aborted) return;
        setLog((before) => ({ ...before, loading: false, error }));
        timer = setTimeout(read, RETRY_MS);
      }
    };
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [job, run, member, follow]);
  return log;
}
