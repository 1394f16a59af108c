-- Who vouches for the log: public keys and signed checkpoints. Neither may ever be changed, like the log itself.

create table audit_keys (
    -- The first 16 hexadecimal digits of sha256(public key).
    key_id text primary key constraint audit_keys_key_id_check check (key_id ~ '^[0-9a-f]{16}$'),
    -- Ed25519.
    public_key bytea not null unique constraint audit_keys_public_key_check check (octet_length(public_key) = 32),
    created_at timestamptz not null,
    -- The key before it, and that key's signature of this one: whoever trusts the old one may trust this one.
    endorsed_by text references audit_keys (key_id),
    endorsement bytea constraint audit_keys_endorsement_check check (octet_length(endorsement) = 64),
    constraint audit_keys_endorsed_check check ((endorsed_by is null) = (endorsement is null))
);

create table audit_checkpoints (
    position bigint primary key constraint audit_checkpoints_position_check check (position > 0),
    -- The chain's hash at that position.
    hash bytea not null constraint audit_checkpoints_hash_check check (octet_length(hash) = 32),
    signed_at timestamptz not null,
    key_id text not null references audit_keys (key_id),
    signature bytea not null constraint audit_checkpoints_signature_check check (octet_length(signature) = 64)
);

create trigger audit_keys_append_only before update or delete or truncate on audit_keys
    for each statement execute function refuse_change();
create trigger audit_checkpoints_append_only before update or delete or truncate on audit_checkpoints
    for each statement execute function refuse_change();

-- Also for a session that says it only replays what another server did.
alter table events enable always trigger events_append_only;
alter table event_seals enable always trigger event_seals_append_only;
alter table audit_keys enable always trigger audit_keys_append_only;
alter table audit_checkpoints enable always trigger audit_checkpoints_append_only;

-- What people ask the log for. Events are written in time's order, so that a summary of ranges finds a time.
create index events_occurred_at_idx on events using brin (occurred_at) with (pages_per_range = 32);
create index events_actor_id_idx on events (actor_id, id) where actor_type in ('user', 'token');
create index events_denied_idx on events (id) where not allowed;
create index events_request_id_idx on events (request_id) where request_id is not null;
