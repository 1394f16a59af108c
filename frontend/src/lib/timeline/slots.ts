// What is kept free at a time: reservations in a row of their own, maintenance over the nodes' rows.
import type { MaintenanceWindow, Reservation } from "../../api/calendar";
import type { Bar, Row } from "./bars";

export type Calendar = {
  reservations: readonly Reservation[];
  windows: readonly MaintenanceWindow[];
  /** The name of the row in which reservations lie. */
  reservedName: string;
};
export const LANES_A_RESERVATION = 3;

const plain = {
  part: { from: 0, to: 1 },
  ghost: null,
  kind: "",
  borrowed: false,
  end: "plain",
  evictionId: null,
  run: null,
  planned: null,
} as const;

/** Reservations that hold at the same time lie above one another: each with its place. */
export function stacked(reservations: readonly Reservation[]): { reservation: Reservation; at: number }[] {
  const ends: number[] = [];
  return [...reservations]
    .sort((a, b) => Date.parse(a.starts_at) - Date.parse(b.starts_at))
    .map((reservation) => {
      const from = Date.parse(reservation.starts_at);
      const free = ends.findIndex((end) => end <= from);
      const at = free === -1 ? ends.length : free;
      ends[at] = Date.parse(reservation.ends_at);
      return { reservation, at };
    });
}

/** The row of reservations is the first. */
export const barOfReservation = (reservation: Reservation, at: number): Bar => ({
  ...plain,
  key: `reservation/${reservation.id}`,
  row: 0,
  lane: at * LANES_A_RESERVATION,
  lanes: LANES_A_RESERVATION,
  from: Date.parse(reservation.starts_at),
  to: Date.parse(reservation.ends_at),
  teamId: reservation.team.id,
  look: "reserved",
  reservation,
  maintenance: null,
  gpus: reservation.gpus,
});

/** A bar over the whole row of each of the window's nodes that is in the picture. */
export function barsOfWindow(
  window: MaintenanceWindow,
  rows: readonly Row[],
  rowAt: ReadonlyMap<string, number>,
): Bar[] {
  return window.nodes.flatMap((node): Bar[] => {
    const row = rowAt.get(node.id);
    const lanes = row === undefined ? 0 : (rows[row]?.lanes ?? 0);
    if (row === undefined || lanes === 0) return [];
    return [
      {
        ...plain,
        key: `maintenance/${window.id}/${node.id}`,
        row,
        lane: 0,
        lanes,
        from: Date.parse(window.starts_at),
        to: Date.parse(window.ends_at),
        teamId: "",
        look: "maintenance",
        reservation: null,
        maintenance: window,
        gpus: lanes,
      },
    ];
  });
}
