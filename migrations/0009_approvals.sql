-- Escalations: more than the rules give, asked for by one person and decided by others, for a time.

create table escalations (
    id uuid primary key,
    asks_for text not null constraint escalations_asks_for_check
        check (asks_for in ('priority', 'quota', 'budget', 'never_evict')),
    state text not null constraint escalations_state_check check (state in (
        'requested', 'in_review', 'approved', 'active', 'expired', 'revoked', 'denied', 'withdrawn', 'timed_out')),
    team_id uuid not null references teams (id),
    -- Only this job; null = the team's.
    job_id uuid references jobs (id),
    -- Of a team's jobs, only those of this queue and of these kinds.
    queue_id uuid references queues (id),
    kinds text[] constraint escalations_kinds_check
        check (kinds <@ array['training', 'inference', 'experiment', 'evaluation', 'batch']),
    pool_id uuid references pools (id),
    scope text constraint escalations_scope_check check (scope in ('team', 'platform')),
    -- level, guaranteed_gpus, borrow_limit_gpus, gpu_hours, duration_secs: what was asked, and what approvers left of it.
    asked jsonb not null,
    granted jsonb not null,
    reason text not null constraint escalations_reason_check check (char_length(reason) between 1 and 2000),
    requested_by uuid not null references users (id),
    requested_at timestamptz not null,
    -- Null = as soon as it is approved.
    starts_at timestamptz,
    -- Undecided by then, it is over.
    decide_by timestamptz not null,
    -- Which rule of which policy gave its steps.
    policy_version bigint not null,
    rule text not null,
    -- The step that waits, from 1; 0 = none.
    step integer not null default 0,
    steps integer not null default 0,
    approved_at timestamptz,
    activated_at timestamptz,
    expires_at timestamptz,
    ended_at timestamptz,
    ended_by uuid references users (id),
    end_note text,
    -- GPUs of the jobs that it reached when it was asked for.
    gpu_milli bigint not null,
    renews uuid references escalations (id),
    -- The quota that its end puts back.
    quota_before jsonb,
    -- An emergency, active before anybody approved it: its review falls due.
    break_glass boolean not null default false,
    review_due_at timestamptz,
    reviewed_at timestamptz,
    reviewed_by uuid references users (id),
    review_outcome text constraint escalations_review_outcome_check
        check (review_outcome in ('confirmed', 'objected')),
    review_comment text,
    review_chased_at timestamptz,
    version bigint not null default 1,
    updated_at timestamptz not null,
    constraint escalations_step_check check ((state = 'in_review') = (step > 0) and step <= steps),
    constraint escalations_active_check check (state <> 'active' or activated_at is not null),
    constraint escalations_level_check check (asks_for <> 'priority' or (granted ->> 'level' is not null and scope is not null))
);
-- One open request for one thing.
create unique index escalations_open_key on escalations (asks_for, team_id, job_id, queue_id, pool_id)
    nulls not distinct where state in ('requested', 'in_review');
-- What each tick reads, and what the loop looks at.
create index escalations_live_idx on escalations (state, id) where state in ('in_review', 'approved', 'active');
create index escalations_review_idx on escalations (review_due_at) where break_glass and reviewed_at is null;
create index escalations_team_id_id_idx on escalations (team_id, id desc);
create index escalations_job_id_idx on escalations (job_id, id desc) where job_id is not null;
create index escalations_requested_by_idx on escalations (requested_by, id desc);

create table escalation_steps (
    escalation_id uuid not null references escalations (id),
    number integer not null constraint escalation_steps_number_check check (number > 0),
    decision text constraint escalation_steps_decision_check check (decision in ('approved', 'denied')),
    decided_by uuid references users (id),
    decided_at timestamptz,
    comment text,
    granted jsonb,
    primary key (escalation_id, number),
    -- Two steps need two people, whatever two servers believe.
    constraint escalation_steps_person_key unique (escalation_id, decided_by)
);

-- Who may decide a step: a role in a team (or above it), a role in the installation, or a person to whom somebody
-- handed it over. Step 0 = the review of an emergency.
create table escalation_seats (
    id uuid primary key,
    escalation_id uuid not null references escalations (id),
    step integer not null,
    role text constraint escalation_seats_role_check check (role in ('viewer', 'member', 'lead', 'approver')),
    team_id uuid references teams (id),
    platform_role text constraint escalation_seats_platform_role_check
        check (platform_role in ('admin', 'finance', 'auditor')),
    user_id uuid references users (id),
    -- Their seat counts only as long as this person has one.
    delegated_by uuid references users (id),
    constraint escalation_seats_one_check check (
        num_nonnulls(role, platform_role, user_id) = 1 and (role is null) = (team_id is null)
        and (user_id is null) = (delegated_by is null))
);
create index escalation_seats_escalation_id_idx on escalation_seats (escalation_id, step);
create unique index escalation_seats_person_key on escalation_seats (escalation_id, step, user_id) where user_id is not null;

create table escalation_comments (
    id uuid primary key,
    escalation_id uuid not null references escalations (id),
    user_id uuid not null references users (id),
    text text not null constraint escalation_comments_text_check check (char_length(text) between 1 and 2000),
    created_at timestamptz not null
);
create index escalation_comments_escalation_id_idx on escalation_comments (escalation_id, id);

-- GPU-hours at class high and above that a team, with those below it, may use in a month.
create table priority_budgets (
    team_id uuid primary key references teams (id),
    gpu_hours bigint not null constraint priority_budgets_gpu_hours_check check (gpu_hours between 0 and 1000000000),
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

-- The class as which a job counts at a moment: its own, or what an active escalation makes of it.
create function class_rank(class text) returns integer immutable language sql as $$
    select array_position(array['scavenger', 'low', 'normal', 'high', 'critical'], class)
$$;

create function effective_class(
    of_job uuid, own_class text, of_team uuid, of_queue uuid, of_kind text, at timestamptz
) returns text stable language sql as $$
    select coalesce((
        select e.granted ->> 'level' from escalations e
        where e.state = 'active' and e.asks_for = 'priority' and e.expires_at > at
          and class_rank(e.granted ->> 'level') > class_rank(own_class)
          and (e.job_id = of_job or e.job_id is null
               and (e.queue_id is null or e.queue_id = of_queue) and (e.kinds is null or of_kind = any(e.kinds))
               and e.team_id in (with recursive up as (
                                     select id, parent_id from teams where id = of_team
                                     union
                                     select t.id, t.parent_id from teams t join up on t.id = up.parent_id
                                 ) select id from up))
        order by class_rank(e.granted ->> 'level') desc limit 1), own_class)
$$;

create index usage_intervals_high_idx on usage_intervals (team_id, ended_at) where priority_class in ('high', 'critical');
