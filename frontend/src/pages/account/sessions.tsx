import { useQueryClient } from "@tanstack/react-query";
import { endOtherSessions, endSession, listSessions, type Session } from "../../api/identity";
import { ActButton } from "../../components/act-button";
import { Nothing } from "../../components/feedback";
import { Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Where the reader is signed in; each can be ended, or all but this one. */
export function Sessions() {
  const { t, word } = useText();
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: ["sessions"] });
  return (
    <Section
      title={t("session.title")}
      extra={
        <ActButton
          label={t("session.end_others")}
          of=""
          ask={t("session.ask_end_others")}
          text={t("session.end_text")}
          run={async () => {
            await endOtherSessions();
            await again();
          }}
        />
      }
    >
      <PagedTable<Session>
        label={t("session.title")}
        queryKey={["sessions"]}
        load={listSessions}
        rowKey={(row) => row.id}
        empty={<Nothing why={t("session.none")} />}
        columns={[
          {
            key: "where",
            head: t("session.where"),
            wide: true,
            cell: (row) => (
              <>
                {row.user_agent ?? t("session.unknown")}{" "}
                {row.is_current && <strong>{t("session.current")}</strong>}
              </>
            ),
          },
          { key: "method", head: t("session.method"), cell: (row) => word("session_method", row.method) },
          { key: "address", head: t("session.address"), cell: (row) => row.address ?? "–" },
          { key: "since", head: t("people.since"), cell: (row) => <When at={row.created_at} /> },
          { key: "used", head: t("tokens.last_used"), cell: (row) => <When at={row.last_used_at} /> },
          { key: "ends", head: t("approval.expires"), cell: (row) => <When at={row.expires_at} /> },
          {
            key: "acts",
            head: t("nodes.actions"),
            cell: (row) =>
              !row.is_current && (
                <ActButton
                  label={t("session.end")}
                  of={row.user_agent ?? row.id}
                  ask={t("session.ask_end")}
                  text={t("session.end_text")}
                  run={async () => {
                    await endSession(row.id);
                    await again();
                  }}
                />
              ),
          },
        ]}
      />
    </Section>
  );
}
