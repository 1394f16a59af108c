import { useQueryClient } from "@tanstack/react-query";
import { Button, Input } from "antd";
import { useId, useRef, useState } from "react";
import { comment, listComments } from "../../api/approvals";
import { newKey } from "../../api/client";
import { Nothing, ProblemAlert } from "../../components/feedback";
import { Section } from "../../components/page";
import { PagedTable } from "../../components/paged-table";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** What people say about it, oldest first. */
export function Comments({ id }: { id: string }) {
  const { t } = useText();
  const client = useQueryClient();
  const fieldId = useId();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // The same text sent again after a lost reply is one comment.
  const sent = useRef({ text: "", key: "" });
  const send = async () => {
    if (sent.current.text !== text) sent.current = { text, key: newKey() };
    setBusy(true);
    setError(null);
    try {
      await comment(id, text, sent.current.key);
      setText("");
      await client.invalidateQueries({ queryKey: ["escalation", id, "comments"] });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section title={t("approval.comments")}>
      <PagedTable
        label={t("approval.comments")}
        queryKey={["escalation", id, "comments"]}
        load={(cursor) => listComments(id, cursor)}
        rowKey={(row) => row.id}
        empty={<Nothing why={t("approval.no_comments")} />}
        columns={[
          { key: "who", head: t("field.user"), cell: (row) => row.user.display_name },
          { key: "at", head: t("field.time"), cell: (row) => <When at={row.created_at} /> },
          { key: "text", head: t("approval.comment"), wide: true, cell: (row) => row.text },
        ]}
      />
      <div className="comment">
        <label htmlFor={fieldId}>{t("approval.add_comment")}</label>
        <Input.TextArea
          id={fieldId}
          rows={2}
          maxLength={2000}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {error ? <ProblemAlert error={error} /> : null}
        <Button onClick={() => void send()} loading={busy} disabled={text.trim() === ""}>
          {t("approval.send_comment")}
        </Button>
      </div>
    </Section>
  );
}
