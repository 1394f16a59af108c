import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { delegate, deny, type Escalation, renew, review, revoke, withdraw } from "../../api/approvals";
import { Section } from "../../components/page";
import { useText } from "../../lib/use-text";
import { CommentForm, DelegateForm, RenewForm, ReviewForm } from "./act-forms";
import { ApproveForm } from "./approve-form";

type Act = keyof Escalation["my"];
const ACTS = [
  "approve",
  "deny",
  "delegate",
  "review",
  "renew",
  "withdraw",
  "revoke",
] as const satisfies Act[];

/** What the reader may do with it now; what they may not, the server says why. */
export function Acts({ one }: { one: Escalation }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Act | null>(null);
  const close = () => setOpen(null);
  const mine = ACTS.filter((act) => one.my[act] == null);
  const done = async (after: Escalation) => {
    client.setQueryData(["escalation", one.id], after.id === one.id ? after : one);
    void client.invalidateQueries({ queryKey: ["escalation", one.id] });
    void client.invalidateQueries({ queryKey: ["approvals"] });
    void client.invalidateQueries({ queryKey: ["escalations"] });
    if (after.id !== one.id) await navigate({ to: "/approvals/$id", params: { id: after.id } });
    close();
  };
  const whyNot = one.state === "in_review" ? one.my.approve : null;
  return (
    <>
      {mine.length > 0 && !open && (
        <Section title={t("approval.yours")} className="decide">
          <div className="button-row">
            {mine.map((act) => (
              <Button
                key={act}
                type={act === "approve" || act === "review" ? "primary" : "default"}
                danger={act === "deny" || act === "revoke"}
                onClick={() => setOpen(act)}
              >
                {t(`approval_act.${act}`)}
              </Button>
            ))}
          </div>
        </Section>
      )}
      {whyNot && <p className="quiet">{word("refusal", whyNot)}</p>}
      {open === "approve" && <ApproveForm one={one} onClose={close} onDone={done} />}
      {open === "deny" && (
        <CommentForm
          act="deny"
          required
          danger
          onClose={close}
          send={async (text, key) => done(await deny(one, text, key))}
        />
      )}
      {open === "revoke" && (
        <CommentForm
          act="revoke"
          required
          danger
          onClose={close}
          send={async (text, key) => done(await revoke(one.id, text, key))}
        />
      )}
      {open === "withdraw" && (
        <CommentForm
          act="withdraw"
          onClose={close}
          send={async (text, key) => done(await withdraw(one.id, text || null, key))}
        />
      )}
      {open === "delegate" && (
        <DelegateForm onClose={close} send={async (body, key) => done(await delegate(one.id, body, key))} />
      )}
      {open === "review" && (
        <ReviewForm onClose={close} send={async (body, key) => done(await review(one.id, body, key))} />
      )}
      {open === "renew" && (
        <RenewForm onClose={close} send={async (body, key) => done(await renew(one.id, body, key))} />
      )}
    </>
  );
}
