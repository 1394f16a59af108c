import { Button } from "antd";
import { useEffect, useRef, useState } from "react";
import { useText } from "../lib/use-text";
import { Section } from "./page";

type Props = { title: string; secret: string; how?: string; onClose: () => void };

/** What is shown only once: it takes the focus, and goes only when its reader says so. */
export function Secret({ title, secret, how, onClose }: Props) {
  const { t } = useText();
  const box = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => box.current?.focus(), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setCopied(true);
    } catch {
      // No clipboard without a secure origin: the text can be selected.
      setCopied(false);
    }
  };
  return (
    <Section title={title} className="form-panel">
      <p>{t("secret.once")}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: read out as it appears, and selected by keyboard */}
      <code className="secret" ref={box} tabIndex={0} translate="no">
        {secret}
      </code>
      {how && (
        <>
          <p>{t("secret.how")}</p>
          <pre className="command">{how}</pre>
        </>
      )}
      <p className="button-row">
        <Button onClick={() => void copy()}>{t(copied ? "secret.copied" : "secret.copy")}</Button>
        <Button type="primary" onClick={onClose}>
          {t("secret.kept")}
        </Button>
      </p>
    </Section>
  );
}
