import type { MaskedJobRef } from "../../api/views";
import { JobLink } from "../../components/links";
import { useText } from "../../lib/use-text";

/** A job, or, of a team whose jobs the reader may not see, that it is one. */
export function MaskedJob({ job }: { job: MaskedJobRef }) {
  const { t } = useText();
  if (job.id && job.name) return <JobLink job={{ id: job.id, name: job.name }} />;
  return <span className="quiet">{t("timeline.foreign_job")}</span>;
}
