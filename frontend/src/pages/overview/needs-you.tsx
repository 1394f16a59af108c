import { useNavigate } from "@tanstack/react-router";
import type { Need } from "../../api/views";
import { AlertIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { useText } from "../../lib/use-text";

/** What waits for the reader. Nothing waiting is said too: an empty place would leave doubt. */
export function NeedsYou({ items }: { items: Need[] }) {
  const { t } = useText();
  const navigate = useNavigate();
  if (items.length === 0) return <p className="quiet needs-none">{t("needs.none")}</p>;
  return (
    <Section title={t("needs.title")} className="needs">
      <ul>
        {items.map((item) => (
          <li key={item.link + item.text_key}>
            <AlertIcon />{" "}
            <a
              href={item.link}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                void navigate({ href: item.link });
              }}
            >
              {t(`needs.${keyOf(item)}`, {
                defaultValue: t("needs.other", { what: item.type }),
                ...item.params,
              })}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const keyOf = (item: Need) => item.text_key.replace(/^needs(_me)?\./, "").replaceAll(".", "_");
