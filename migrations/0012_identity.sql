-- Who signs in, by what way: sessions tell where from, providers of identity (OIDC), and rules for workloads.

-- A service account is a rule's: it owns what pipelines submit, and has no way to sign in by itself.
alter table users add column kind text not null default 'person'
    constraint users_kind_check check (kind in ('person', 'service'));

alter table sessions
    add column method text not null default 'password'
        constraint sessions_method_check check (method in ('password', 'oidc', 'workload')),
    add column address text,
    -- The sign-in, then each refresh: nothing is written for a mere request.
    add column last_used_at timestamptz;
update sessions s set last_used_at = coalesce(
    (select max(r.created_at) from refresh_tokens r where r.session_id = s.id), s.created_at);
alter table sessions alter column last_used_at set not null;
create index sessions_expires_at_idx on sessions (expires_at);

create table oidc_providers (
    id uuid primary key,
    slug text not null unique constraint oidc_providers_slug_check check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name text not null constraint oidc_providers_name_check check (char_length(name) between 1 and 100),
    issuer text not null,
    client_id text not null,
    -- Null = a public client: PKCE alone.
    client_secret text,
    scopes text[] not null,
    username_claim text not null,
    groups_claim text not null,
    -- False: only people that an administrator has made may sign in.
    create_users boolean not null,
    state text not null constraint oidc_providers_state_check check (state in ('enabled', 'disabled')),
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

-- What a group of the provider gives: a role in a team, or one in the whole installation.
create table oidc_group_roles (
    provider_id uuid not null references oidc_providers (id) on delete cascade,
    group_name text not null constraint oidc_group_roles_group_name_check check (char_length(group_name) between 1 and 200),
    team_id uuid references teams (id),
    role text constraint oidc_group_roles_role_check check (role in ('viewer', 'member', 'lead', 'approver')),
    platform_role text
        constraint oidc_group_roles_platform_role_check check (platform_role in ('admin', 'finance', 'auditor')),
    constraint oidc_group_roles_one_check
        check ((team_id is not null and role is not null) <> (platform_role is not null)),
    unique nulls not distinct (provider_id, group_name, team_id, role, platform_role)
);

-- A provider's subject is one person here, whatever they are called there.
create table oidc_identities (
    provider_id uuid not null references oidc_providers (id) on delete cascade,
    subject text not null,
    user_id uuid not null references users (id),
    -- Platform roles that groups gave and nobody else: taken back when the group is gone.
    platform_roles text[] not null default '{}'
        constraint oidc_identities_platform_roles_check check (platform_roles <@ array['admin', 'finance', 'auditor']),
    created_at timestamptz not null,
    last_sign_in_at timestamptz not null,
    primary key (provider_id, subject)
);
create index oidc_identities_user_id_idx on oidc_identities (user_id);

-- Roles in teams that a provider's groups gave; null = given by hand.
alter table memberships add column oidc_provider_id uuid references oidc_providers (id);

-- A sign-in that has left for its provider and not come back: used once, by the browser that holds its cookie.
create table oidc_flows (
    state_hash bytea primary key,
    browser_hash bytea not null,
    provider_id uuid not null references oidc_providers (id) on delete cascade,
    nonce text not null,
    pkce_verifier text not null,
    return_to text not null,
    expires_at timestamptz not null
);
create index oidc_flows_expires_at_idx on oidc_flows (expires_at);

-- Whose workload tokens are taken, and what they may do here.
create table workload_rules (
    id uuid primary key,
    slug text not null unique constraint workload_rules_slug_check check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name text not null constraint workload_rules_name_check check (char_length(name) between 1 and 100),
    issuer text not null,
    audience text not null,
    -- [{"claim": …, "equals": …} | {"claim": …, "matches": …}]: all must hold.
    conditions jsonb not null,
    team_id uuid not null references teams (id),
    role text not null constraint workload_rules_role_check check (role in ('viewer', 'member', 'lead', 'approver')),
    scopes text[] not null constraint workload_rules_scopes_check check (scopes <@ array['read', 'write', 'admin']),
    token_secs integer not null constraint workload_rules_token_secs_check check (token_secs between 60 and 3600),
    state text not null constraint workload_rules_state_check check (state in ('enabled', 'disabled')),
    service_user_id uuid not null references users (id),
    last_used_at timestamptz,
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index workload_rules_issuer_idx on workload_rules (issuer, audience);

-- A workload's session acts by its rule, and by nothing else: its team, role and scopes are read from there.
alter table sessions add column workload_rule_id uuid references workload_rules (id) on delete cascade,
    add column workload_subject text;
