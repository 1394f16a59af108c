import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Select } from "antd";
import { useState } from "react";
import {
  putNotifications,
  putTeamNotifications,
  SETTINGS,
  type Setting,
  showNotifications,
  showTeamNotifications,
  type Topic,
} from "../../api/identity";
import { Answer, ProblemAlert } from "../../components/feedback";
import { Section, SubHead } from "../../components/page";
import { DataTable } from "../../components/table";
import { useText } from "../../lib/use-text";

type Row = { topic: Topic; setting: Setting; source: string };
const INHERIT = "inherit" as const;

/** Of what the reader is told by mail; what is not chosen comes from the team or the default. */
export function Notifications() {
  const { t } = useText();
  const client = useQueryClient();
  const mine = useQuery({ queryKey: ["notifications"], queryFn: showNotifications });
  return (
    <Section title={t("notify.title")}>
      <Answer of={mine}>
        {(data) => (
          <>
            {!data.mail_configured && <p className="bad-text">{t("notify.no_mail_server")}</p>}
            {data.mail_configured && !data.email && <p className="bad-text">{t("notify.no_address")}</p>}
            <Topics
              label={t("notify.title")}
              topics={data.topics}
              own="own"
              save={async (topic, setting) => {
                const answer = await putNotifications({ settings: [{ topic, setting }] });
                client.setQueryData(["notifications"], answer);
              }}
            />
          </>
        )}
      </Answer>
    </Section>
  );
}

/** What members of a team are told of where they have not chosen themselves. */
export function TeamDefaults({ team, mayEdit }: { team: string; mayEdit: boolean }) {
  const { t } = useText();
  const client = useQueryClient();
  const defaults = useQuery({
    queryKey: ["notifications", team],
    queryFn: () => showTeamNotifications(team),
    enabled: mayEdit,
    retry: false,
  });
  if (!mayEdit) return null;
  return (
    <>
      <SubHead title={t("notify.team_title")} />
      <Answer of={defaults}>
        {(data) => (
          <Topics
            label={t("notify.team_title")}
            topics={data.topics}
            own="team"
            save={async (topic, setting) => {
              const answer = await putTeamNotifications(team, { settings: [{ topic, setting }] });
              client.setQueryData(["notifications", team], answer);
            }}
          />
        )}
      </Answer>
    </>
  );
}

type Props = {
  label: string;
  topics: readonly Row[];
  /** The source that means "chosen here". */
  own: string;
  save: (topic: Topic, setting: Setting | null) => Promise<void>;
};
function Topics({ label, topics, own, save }: Props) {
  const { t, word } = useText();
  const [busy, setBusy] = useState<Topic | null>(null);
  const [error, setError] = useState<unknown>(null);
  const choose = async (topic: Topic, value: Setting | typeof INHERIT) => {
    setBusy(topic);
    setError(null);
    try {
      await save(topic, value === INHERIT ? null : value);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(null);
    }
  };
  return (
    <>
      <DataTable
        label={label}
        rows={[...topics]}
        rowKey={(row) => row.topic}
        columns={[
          { key: "topic", head: t("notify.topic"), wide: true, cell: (row) => word("topic", row.topic) },
          {
            key: "setting",
            head: t("notify.setting"),
            cell: (row) => (
              <Select
                className="choose"
                aria-label={`${t("notify.setting")} ${word("topic", row.topic)}`}
                loading={busy === row.topic}
                value={row.source === own ? row.setting : (INHERIT as Setting | typeof INHERIT)}
                popupMatchSelectWidth={false}
                options={[
                  {
                    value: INHERIT,
                    label: t("notify.inherit", { setting: word("notify_setting", row.setting) }),
                  },
                  ...SETTINGS.map((value) => ({ value, label: word("notify_setting", value) })),
                ]}
                onChange={(value) => void choose(row.topic, value)}
              />
            ),
          },
          { key: "source", head: t("rules.from"), cell: (row) => word("notify_source", row.source) },
        ]}
      />
      {error ? <ProblemAlert error={error} /> : null}
    </>
  );
}
