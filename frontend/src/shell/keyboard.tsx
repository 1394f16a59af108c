import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Dialog } from "../components/confirm";
import { useText } from "../lib/use-text";

const HELP = "reeve:keyboard-help";
export const openKeyboardHelp = () => window.dispatchEvent(new Event(HELP));

const GO = {
  o: "/",
  q: "/queues",
  j: "/jobs",
  r: "/reclaims",
  n: "/nodes",
  i: "/idle",
  t: "/timeline",
  a: "/approvals",
  k: "/calendar",
  c: "/cost",
  l: "/audit",
  s: "/admin",
  m: "/account",
} as const;
const KEYS = [
  ["?", "help"],
  ["/", "search"],
  ["g o", "overview"],
  ["g q", "queues"],
  ["g j", "jobs"],
  ["g r", "reclaims"],
  ["g n", "nodes"],
  ["g i", "idle"],
  ["g t", "timeline"],
  ["g a", "approvals"],
  ["g k", "calendar"],
  ["g c", "cost"],
  ["g l", "audit"],
  ["g s", "admin"],
  ["g m", "account"],
  ["c", "submit"],
  ["Esc", "close"],
] as const;
const SECOND_KEY_MS = 1500;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The keys that work on every page, and the window that lists them. */
export function KeyboardHelp() {
  const { t } = useText();
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    let goAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const second = Date.now() - goAt < SECOND_KEY_MS ? GO[event.key as keyof typeof GO] : undefined;
      goAt = event.key === "g" ? Date.now() : 0;
      if (second) void navigate({ to: second });
      else if (event.key === "?") setOpen(true);
      else if (event.key === "c") void navigate({ to: "/jobs/new" });
      else if (event.key === "/") document.getElementById("search")?.focus();
      else return;
      event.preventDefault();
    };
    const onHelp = () => setOpen(true);
    window.addEventListener("keydown", onKey);
    window.addEventListener(HELP, onHelp);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener(HELP, onHelp);
    };
  }, [navigate]);
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title={t("keys.title")}>
      <dl className="keys">
        {KEYS.map(([keys, name]) => (
          <div key={name}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(`keys.${name}`)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
