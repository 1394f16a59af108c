// The few pictures the console needs beside antd's; each stands beside a word and is hidden from readers.
import type { ReactNode } from "react";

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}
const stroke = { fill: "none", stroke: "currentColor", strokeWidth: 1.6, strokeLinecap: "round" } as const;

export const AlertIcon = () => (
  <Icon>
    <path d="M8 1.5 15 14H1z" {...stroke} strokeLinejoin="round" />
    <path d="M8 6v4M8 12v.2" {...stroke} />
  </Icon>
);
export const ClockIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6.2" {...stroke} />
    <path d="M8 4.5V8l2.5 1.8" {...stroke} />
  </Icon>
);
export const PlayIcon = () => (
  <Icon>
    <path d="M4 2.5v11l9-5.5z" fill="currentColor" />
  </Icon>
);
export const StartIcon = () => (
  <Icon>
    <path d="M4 2.5v11l9-5.5z" {...stroke} strokeLinejoin="round" />
  </Icon>
);
export const LeaveIcon = () => (
  <Icon>
    <path d="M2 8h9M7.5 4.5 11 8l-3.5 3.5M14 3v10" {...stroke} />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.2 3.2L13 4.5" {...stroke} />
  </Icon>
);
export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" {...stroke} />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6.2" {...stroke} />
    <path d="m3.8 3.8 8.4 8.4" {...stroke} />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M5 3v10M11 3v10" {...stroke} strokeWidth={2.4} />
  </Icon>
);
