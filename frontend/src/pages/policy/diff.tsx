import { useMemo } from "react";
import { Scroll } from "../../components/table";
import { lineDiff, shortDiff } from "../../lib/line-diff";
import { useText } from "../../lib/use-text";

const SIGNS = { same: " ", out: "−", in: "+" } as const;

/** Two texts' differing lines, each with its sign: colour never speaks alone. */
export function Diff({ before, after }: { before: string; after: string }) {
  const { t } = useText();
  const lines = useMemo(() => shortDiff(lineDiff(before, after)), [before, after]);
  if (lines.length === 0) return <p className="quiet">{t("policy.same")}</p>;
  return (
    <Scroll label={t("policy.difference")} maxHeight>
      <pre className="diff">
        {lines.map((line, at) =>
          line === null ? (
            <div key={at} className="quiet">
              …
            </div>
          ) : (
            <div key={at} className={`diff-${line.kind}`}>
              {SIGNS[line.kind]} {line.text}
            </div>
          ),
        )}
      </pre>
    </Scroll>
  );
}
