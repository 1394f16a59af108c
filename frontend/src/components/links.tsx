import { createLink, Link } from "@tanstack/react-router";
import { Button, type ButtonProps } from "antd";
import type { JobRef } from "../api/views";

/** A button that leads somewhere: a real link, looking like what it stands beside. */
export const ButtonLink = createLink(({ primary, ...rest }: ButtonProps & { primary?: boolean }) => (
  <Button {...rest} type={primary ? "primary" : "default"} />
));

type Props = { job: Pick<JobRef, "id" | "name"> & { team?: JobRef["team"] }; withTeam?: boolean };
export function JobLink({ job, withTeam = false }: Props) {
  return (
    <>
      <Link to="/jobs/$id" params={{ id: job.id }} className="name">
        {job.name}
      </Link>
      {withTeam && job.team && <span className="quiet"> {job.team.name}</span>}
    </>
  );
}
