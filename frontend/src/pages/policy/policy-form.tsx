import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { listQueues } from "../../api/operations";
import { KINDS } from "../../api/views";
import { Choose, ChooseTeam } from "../../components/choose";
import {
  countOwn,
  type Doc,
  onlyInText,
  ownPlaces,
  type Place,
  rulesAt,
  withRule,
} from "../../lib/policy-form";
import { useText } from "../../lib/use-text";
import { GeneralFields } from "./general-fields";
import { KindFields } from "./kind-fields";

type Props = { doc: Doc; onChange: (doc: Doc) => void; readOnly: boolean };

/** The document as fields: the installation's rules, those of each kind, and what teams and queues have of their own. */
export function PolicyForm({ doc, onChange, readOnly }: Props) {
  const { t, word } = useText();
  const [place, setPlace] = useState<Place>({ level: "installation" });
  const hidden = onlyInText(doc);
  const at =
    place.level === "installation"
      ? word("rule_level", "installation")
      : `${word("rule_level", place.level)} ${place.slug}`;
  return (
    <div className="policy-form">
      <h3>{t("policy.general")}</h3>
      <GeneralFields doc={doc} onChange={onChange} readOnly={readOnly} />
      <h3>{t("policy.kinds")}</h3>
      <p className="quiet">{t("policy.kinds_text")}</p>
      <Places doc={doc} place={place} onPlace={setPlace} />
      <p>
        <strong>{at}</strong>
        {place.level !== "installation" && (
          <span className="quiet"> {t("policy.own_rules", { count: countOwn(doc, place) })}</span>
        )}
      </p>
      {KINDS.map((kind) => (
        <KindFields
          key={`${at}/${kind}`}
          kind={kind}
          rules={rulesAt(doc, place, kind)}
          inherits={place.level !== "installation"}
          readOnly={readOnly}
          onRule={(name, value) => onChange(withRule(doc, place, kind, name, value))}
        />
      ))}
      {hidden.length > 0 && (
        <p className="quiet">{t("policy.only_in_text", { names: hidden.join(t("quota.separator")) })}</p>
      )}
    </div>
  );
}

/** Whose rules are shown: the installation's, a team's or a queue's. Those that have some are one press away. */
function Places({ doc, place, onPlace }: { doc: Doc; place: Place; onPlace: (place: Place) => void }) {
  const { t, word } = useText();
  const queues = useQuery({ queryKey: ["queues"], queryFn: () => listQueues() });
  return (
    <div className="filters">
      <Button
        aria-pressed={place.level === "installation"}
        onClick={() => onPlace({ level: "installation" })}
      >
        {word("rule_level", "installation")}
      </Button>
      {ownPlaces(doc).map((one) => (
        <Button
          key={`${one.level}/${one.slug}`}
          aria-pressed={place.level === one.level && place.slug === one.slug}
          onClick={() => onPlace(one)}
        >
          {`${word("rule_level", one.level)} ${one.slug}`}
        </Button>
      ))}
      <ChooseTeam
        value={place.level === "team" ? place.slug : undefined}
        onChange={(slug) => onPlace(slug ? { level: "team", slug } : { level: "installation" })}
      />
      <Choose
        label={t("field.queue")}
        value={place.level === "queue" ? place.slug : undefined}
        options={(queues.data ?? []).map((queue) => ({ value: queue.slug, label: queue.name }))}
        onChange={(slug) => onPlace(slug ? { level: "queue", slug } : { level: "installation" })}
      />
    </div>
  );
}
