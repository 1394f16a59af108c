-- Teams, people, and what lets them in.

create table teams (
    id uuid primary key,
    slug text not null constraint teams_slug_check check (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name text not null constraint teams_name_check check (char_length(name) between 1 and 100),
    parent_id uuid references teams (id),
    state text not null default 'active' constraint teams_state_check check (state in ('active', 'deleted')),
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
);
-- A deleted team's slug may be used again.
create unique index teams_slug_key on teams (slug) where state = 'active';
create index teams_parent_id_idx on teams (parent_id);

create table users (
    id uuid primary key,
    username text not null constraint users_username_check check (username ~ '^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$'),
    display_name text not null constraint users_display_name_check check (char_length(display_name) between 1 and 100),
    email text,
    locale text constraint users_locale_check check (locale in ('en', 'zh-CN')),
    state text not null default 'active' constraint users_state_check check (state in ('active', 'disabled')),
    -- argon2id in PHC form; null = cannot sign in with a password.
    password_hash text,
    platform_roles text[] not null default '{}'
        constraint users_platform_roles_check check (platform_roles <@ array['admin', 'finance', 'auditor']),
    failed_sign_ins integer not null default 0,
    locked_until timestamptz,
    version bigint not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create unique index users_username_key on users (username);

create table memberships (
    user_id uuid not null references users (id),
    team_id uuid not null references teams (id),
    role text not null constraint memberships_role_check check (role in ('viewer', 'member', 'lead', 'approver')),
    created_at timestamptz not null,
    primary key (team_id, user_id, role)
);
create index memberships_user_id_idx on memberships (user_id);

-- A sign-in; its refresh tokens form one family: reuse of a spent one revokes the session.
create table sessions (
    id uuid primary key,
    user_id uuid not null references users (id),
    user_agent text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz,
    revoked_reason text
);
create index sessions_user_id_idx on sessions (user_id);

create table refresh_tokens (
    token_hash bytea primary key,
    session_id uuid not null references sessions (id) on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    spent_at timestamptz
);
create index refresh_tokens_session_id_idx on refresh_tokens (session_id);

create table api_tokens (
    id uuid primary key,
    user_id uuid not null references users (id),
    name text not null constraint api_tokens_name_check check (char_length(name) between 1 and 100),
    token_hash bytea not null unique,
    -- The first characters, so that people recognise it.
    hint text not null,
    scopes text[] not null constraint api_tokens_scopes_check check (scopes <@ array['read', 'write', 'admin']),
    -- Null = every team of its user.
    team_ids uuid[],
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz
);
create index api_tokens_user_id_idx on api_tokens (user_id);

-- Last use is written apart, at most once a minute: it must not contend with anything.
create table api_token_uses (
    token_id uuid primary key references api_tokens (id) on delete cascade,
    last_used_at timestamptz not null
);

-- Keys that sign access tokens, newest first; kept in the database so that two servers agree.
create table signing_keys (
    id uuid primary key,
    private_pem text not null,
    public_pem text not null,
    created_at timestamptz not null,
    retired_at timestamptz
);
