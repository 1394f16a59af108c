import { useQuery } from "@tanstack/react-query";
import { listJobEvictions } from "../../api/operations";
import type { Job } from "../../api/views";
import { Answer } from "../../components/feedback";
import { Section } from "../../components/page";
import { useText } from "../../lib/use-text";
import { EvictionCard } from "../reclaims/eviction-card";

/** Each time GPUs were taken from the job, and why it was this one. Jobs never evicted show nothing. */
export function JobEvictions({ job }: { job: Job }) {
  const { t } = useText();
  const asked = job.eviction_count > 0 || job.leave != null;
  const evictions = useQuery({
    queryKey: ["job", job.id, "evictions"],
    queryFn: () => listJobEvictions(job.id),
    enabled: asked,
  });
  if (!asked) return null;
  return (
    <Section title={t("job.evictions")}>
      <Answer of={evictions}>
        {(page) => (
          <>
            {page.items.map((eviction) => (
              <EvictionCard key={eviction.id} eviction={eviction} />
            ))}
          </>
        )}
      </Answer>
    </Section>
  );
}
