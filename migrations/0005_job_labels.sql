-- Jobs are found by their labels: a pipeline asks for those of its own run.
create index jobs_labels_idx on jobs using gin (labels jsonb_path_ops);
