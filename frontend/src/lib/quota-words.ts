import type { TFunction } from "i18next";
import type { Quota } from "../api/views";
import { quotaShape } from "./quota-shape";

/** The bar in words: "64 of 64 used, 16 borrowed, 0 lent, limit 96". */
export function quotaWords(
  quota: Pick<Quota, "guaranteed_gpus" | "borrow_limit_gpus" | "use">,
  t: TFunction,
  n: (value: number) => string,
): string {
  const { use } = quota;
  const shape = quotaShape(quota);
  const parts = shape.zeroQuota
    ? [t("quota.zero"), t("quota.borrowed", { gpus: n(use.borrowed_gpus) })]
    : [
        t("quota.used", { used: n(use.guaranteed_used_gpus), guaranteed: n(quota.guaranteed_gpus) }),
        t("quota.borrowed", { gpus: n(use.borrowed_gpus) }),
        t("quota.lent", { gpus: n(use.lent_gpus) }),
      ];
  parts.push(shape.limit == null ? t("quota.no_limit") : t("quota.limit", { gpus: n(shape.limit) }));
  if (use.leaving_gpus > 0) parts.push(t("quota.leaving", { gpus: n(use.leaving_gpus) }));
  if (use.pending_gpus > 0) parts.push(t("quota.pending", { gpus: n(use.pending_gpus) }));
  return parts.join(t("quota.separator"));
}
