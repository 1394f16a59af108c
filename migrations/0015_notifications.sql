-- Who is told of events, and what became of telling them.

create table webhooks (
    id uuid primary key,
    -- Null = the whole installation's.
    team_id uuid references teams (id),
    name text not null constraint webhooks_name_check check (char_length(name) between 1 and 100),
    kind text not null
        constraint webhooks_kind_check check (kind in ('webhook', 'feishu', 'dingtalk', 'wecom', 'slack')),
    -- A robot's address is a secret itself.
    url text not null,
    -- Signs what is sent; null for robots that have none.
    secret text,
    -- Signs too until then, so that a receiver can change over.
    previous_secret text,
    previous_secret_until timestamptz,
    -- Actions, or prefixes with `.*`; empty = what its kind tells by itself.
    event_types text[] not null,
    locale text not null constraint webhooks_locale_check check (locale in ('en', 'zh-CN')),
    state text not null constraint webhooks_state_check check (state in ('enabled', 'disabled')),
    disabled_reason text constraint webhooks_disabled_reason_check check (disabled_reason in ('gone', 'by_hand')),
    failing_since timestamptz,
    last_delivered_at timestamptz,
    created_by uuid references users (id),
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index webhooks_team_id_idx on webhooks (team_id);

-- One message to one receiver: a webhook, or a person by mail.
create table deliveries (
    id uuid primary key,
    webhook_id uuid references webhooks (id) on delete cascade,
    user_id uuid references users (id),
    -- The same however often it is sent, so that a receiver can tell.
    message_id text not null,
    event_position bigint,
    event_type text not null,
    -- As it is sent; what a robot or a mail adds (time, signature, address) is added then.
    body text not null,
    state text not null constraint deliveries_state_check check (state in ('pending', 'delivered', 'failed', 'cancelled')),
    attempts integer not null default 0,
    -- When it is due; while it is being sent, when another server may take it over.
    next_attempt_at timestamptz,
    last_status integer,
    last_error text,
    last_attempt_at timestamptz,
    delivered_at timestamptz,
    resend_of uuid,
    created_at timestamptz not null,
    constraint deliveries_receiver_check check ((webhook_id is null) <> (user_id is null)),
    constraint deliveries_due_check check ((state = 'pending') = (next_attempt_at is not null))
);
create index deliveries_due_idx on deliveries (next_attempt_at) where state = 'pending';
create index deliveries_webhook_id_idx on deliveries (webhook_id, id);
create index deliveries_created_at_idx on deliveries (created_at) where state <> 'pending';
-- An event is told once to each, whichever server does it.
create unique index deliveries_once_key on deliveries (event_position, webhook_id, user_id) nulls not distinct
    where event_position is not null and resend_of is null;

create table delivery_attempts (
    delivery_id uuid not null references deliveries (id) on delete cascade,
    number integer not null,
    at timestamptz not null,
    status integer,
    error text,
    took_ms integer not null,
    response_excerpt text not null,
    primary key (delivery_id, number)
);

-- How far the sealed events have been told.
create table notify_cursor (
    single boolean primary key default true constraint notify_cursor_single_check check (single),
    position bigint not null
);
insert into notify_cursor (position) select coalesce(max(position), 0) from event_seals;

-- Who wants mail about what: a person's own word, or a team's for its members.
create table notification_settings (
    user_id uuid references users (id),
    team_id uuid references teams (id),
    topic text not null constraint notification_settings_topic_check check (topic in ('job_ended', 'job_evicted',
        'approval_requested', 'approval_decided', 'budget', 'idle', 'quota', 'node', 'security')),
    setting text not null constraint notification_settings_setting_check check (setting in ('off', 'own', 'team')),
    constraint notification_settings_whose_check check ((user_id is null) <> (team_id is null)),
    unique nulls not distinct (user_id, team_id, topic)
);
