import type { FormRule } from "antd";
import { useText } from "../../lib/use-text";

/** What the form itself can say about a span: its end comes after its beginning. The server has the last word. */
export function useSpanRules(): { after: FormRule } {
  const { t } = useText();
  return {
    after: ({ getFieldValue }) => ({
      validator: (_, value: string | undefined) =>
        value && value <= String(getFieldValue("starts_at") ?? "")
          ? Promise.reject(new Error(t("calendar.ends_before")))
          : Promise.resolve(),
    }),
  };
}
