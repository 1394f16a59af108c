-- An exception to a money or GPU-hour budget is asked for and granted as an escalation.

-- Which budget it is about; null = the team's high-priority GPU-hours. No reference: what was decided outlives the budget.
alter table escalations add column budget_id uuid,
    add constraint escalations_budget_check check (
        budget_id is null or asks_for = 'budget' and granted ->> 'extra_micros' is not null);
drop index escalations_open_key;
create unique index escalations_open_key on escalations (asks_for, team_id, job_id, queue_id, pool_id, budget_id)
    nulls not distinct where state in ('requested', 'in_review');

alter table budget_exceptions add column escalation_id uuid references escalations (id),
    add constraint budget_exceptions_escalation_id_key unique (escalation_id),
    drop constraint budget_exceptions_reason_check,
    add constraint budget_exceptions_reason_check check (char_length(reason) <= 2000);
