import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { listReservations, listWindows } from "../api/calendar";
import { ChoosePool, ChooseTeam } from "../components/choose";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";
import { isAdmin, useMe } from "../session";
import { ReservationForm } from "./calendar/reservation-form";
import { Reservations } from "./calendar/reservations";
import { WindowForm } from "./calendar/window-form";
import { Windows } from "./calendar/windows";

/** As far back as "over ones too" goes. */
const PAST_DAYS = 90;

/** What keeps GPUs free at which time: reservations for teams, maintenance of nodes. */
export function CalendarPage() {
  const { t } = useText();
  const search = useSearch({ from: "/calendar" });
  const navigate = useNavigate({ from: "/calendar" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const me = useMe();
  const [making, setMaking] = useState<"reservation" | "window" | null>(null);
  const since = search.past ? new Date(startOfDay() - PAST_DAYS * 86_400_000).toISOString() : undefined;
  const reservations = useQuery({
    queryKey: ["reservations", search.pool ?? "", search.team ?? "", since ?? ""],
    queryFn: () => listReservations({ pool: search.pool, team: search.team, from: since }),
  });
  const windows = useQuery({
    queryKey: ["maintenance-windows", search.pool ?? "", since ?? ""],
    queryFn: () => listWindows({ pool: search.pool, from: since }),
  });
  const filtered = Boolean(search.pool || search.team);
  return (
    <Page
      title={t("nav.calendar")}
      actions={
        isAdmin(me.data) && (
          <>
            <Button type="primary" onClick={() => setMaking("reservation")}>
              {t("calendar.reserve")}
            </Button>
            <Button onClick={() => setMaking("window")}>{t("calendar.plan_window")}</Button>
          </>
        )
      }
    >
      {making === "reservation" && (
        <ReservationForm pool={search.pool} team={search.team} onClose={() => setMaking(null)} />
      )}
      {making === "window" && <WindowForm pool={search.pool} onClose={() => setMaking(null)} />}
      <div className="filters">
        <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
        <ChooseTeam value={search.team} onChange={(team) => set({ team })} />
        <Button
          aria-pressed={search.past === "yes"}
          onClick={() => set({ past: search.past ? undefined : "yes" })}
        >
          {t("calendar.past", { days: PAST_DAYS })}
        </Button>
      </div>
      <Reservations of={reservations} filtered={filtered} />
      <Windows of={windows} filtered={Boolean(search.pool)} />
    </Page>
  );
}

/** The same moment all day long, so that the question stays the same too. */
const startOfDay = () => Math.floor(Date.now() / 86_400_000) * 86_400_000;
