//! Every error code, in one table: its status, its title, and what to do about it.
//!
//! The help pages `/problems/<code>` are made from this table. A code is part of the interface: it is never renamed.

macro_rules! problem_codes {
    ($($variant:ident = $text:literal, $status:literal, $title:literal, $help:literal;)+) => {
        /// Why a request was refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($variant),+ }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }

            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),+ }
            }

            /// What to do about it.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),+ }
            }
        }
    };
}

problem_codes! {
    InvalidJson = "invalid_json", 400, "The body is not readable JSON", "Send one JSON document in UTF-8: no duplicate keys, at most 64 levels deep. `errors` names the place.";
    InvalidQuery = "invalid_query", 400, "A query parameter is not understood", "Correct the parameter that `errors` names; unknown parameters are refused so that a misspelt filter never shows too much.";
    InvalidHeader = "invalid_header", 400, "A header is not understood", "Correct the header that `detail` names.";
    CursorMismatch = "cursor_mismatch", 400, "The cursor belongs to another list", "Start without `cursor`, or repeat the filter that the cursor was made with.";
    Unauthenticated = "unauthenticated", 401, "Not signed in", "Send `Authorization: Bearer …` with an access token from POST /api/v1/auth/sign-in or an API token.";
    SignInFailed = "sign_in_failed", 401, "Wrong username or password", "Try again; after several failures the account pauses for a growing time. An administrator can set a new password.";
    InvalidCredential = "invalid_credential", 401, "The token is not valid", "It may have expired, been revoked, or be mistyped. Refresh it, sign in again, or make a new API token.";
    RefreshReused = "refresh_reused", 401, "This refresh token was used before", "The whole session was ended, because somebody else may hold the token. Sign in again.";
    Forbidden = "forbidden", 403, "Not allowed", "Your roles or your token's scopes don't include this. Ask a lead of the team or an administrator.";
    ForeignOrigin = "foreign_origin", 403, "The request comes from another site", "Requests that change something with a browser session must come from Reeve's own pages. Programs use a token instead.";
    EscalationOwnRequest = "escalation_own_request", 403, "Whoever asked does not decide", "Somebody else of the step has to approve, deny, delegate or review it; GET /escalations/{id} names who may.";
    EscalationSamePerson = "escalation_same_person", 403, "Each step needs another person", "You approved an earlier step. Somebody else of this step has to decide it.";
    EscalationNotApprover = "escalation_not_approver", 403, "Not yours to decide", "The steps of the escalation name the roles that decide; yours are none of them now.";
    EscalationNotYours = "escalation_not_yours", 403, "Not yours to end or renew", "Requests are withdrawn by whoever asked, and revoked by them, the team's leads, its approvers or an administrator.";
    BreakGlassRefused = "break_glass_refused", 403, "No emergency for you", "The policy names who may activate without approval. Ask for approval instead: leave break_glass out.";
    NotFound = "not_found", 404, "Not found", "Check the address and the id. What you may not see also answers so.";
    MethodNotAllowed = "method_not_allowed", 405, "This address has no such method", "See the `Allow` header and /api/docs.";
    Timeout = "timeout", 503, "It took too long", "Nothing was changed, or the change is complete: repeat with the same Idempotency-Key.";
    Conflict = "conflict", 409, "It has changed meanwhile", "Read it again and decide anew.";
    AlreadyExists = "already_exists", 409, "The name is taken", "Choose another name, or use the one that exists.";
    TooMany = "too_many", 409, "There are too many of these", "Remove some that are not needed; `params.most` says how many there may be.";
    InUse = "in_use", 409, "Something still depends on it", "Remove what depends on it first; `detail` says what.";
    TeamHasJobs = "team_has_jobs", 409, "The team has live jobs", "Cancel them or wait for their end, then delete the team.";
    TeamHasChildren = "team_has_children", 409, "The team has teams below it", "Delete or move them first.";
    IdempotencyRunning = "idempotency_running", 409, "The same request is still running", "Wait and repeat it with the same key.";
    SecretNotKept = "secret_not_kept", 409, "It was made, and its secret is not kept", "The first reply to this Idempotency-Key had the secret. If it was lost, revoke what was made, and make a new one with a new key.";
    StaleVersion = "stale_version", 412, "It was changed since you read it", "Read it again, then send the new ETag in If-Match.";
    PayloadTooLarge = "payload_too_large", 413, "The body is too large", "At most 1 MiB, 8 MiB for batches. Split it.";
    UnsupportedMediaType = "unsupported_media_type", 415, "The body must be JSON", "Send `Content-Type: application/json`.";
    InvalidBody = "invalid_body", 422, "Some fields are wrong", "`errors` names each field by JSON pointer, with what is wrong and what is allowed.";
    IdempotencyMismatch = "idempotency_mismatch", 422, "This key was used for another request", "Use a new Idempotency-Key for a new request.";
    ParentCycle = "parent_cycle", 422, "The team would be its own ancestor", "Choose a parent that is not below this team.";
    UnknownReference = "unknown_reference", 422, "It points to something that does not exist", "Check the id or the name.";
    PreconditionRequired = "precondition_required", 428, "If-Match is required", "Read the object, then send its ETag in If-Match: so nobody's change is lost.";
    QuotaAboveParent = "quota_above_parent", 422, "The guarantee is above the parent's", "`params` has the parent, its guarantee and what is left. Set at most that, or raise the parent first.";
    GuaranteeSumAboveParent = "guarantee_sum_above_parent", 422, "The children would be guaranteed more than their parent", "`params` has what is left. Set at most that, lower a sibling, or raise the parent first.";
    GuaranteeBelowChildren = "guarantee_below_children", 422, "The guarantee is below the children's", "Lower the guarantees of the teams below first.";
    PriorityAboveCeiling = "priority_above_ceiling", 422, "The priority class is above the ceiling for this kind", "Submit with at most the ceiling that `detail` names, and ask for an escalation of the job to go higher: POST /api/v1/escalations, or `reeve escalate`. While an escalation of the team is active, its jobs may be submitted up to its level.";
    EscalationState = "escalation_state", 409, "The escalation does not stand where this is possible", "`params.state` says where it stands. Read it again.";
    EscalationOpen = "escalation_open", 409, "A request for the same thing is open", "Wait until it is decided, or withdraw it and ask anew.";
    EscalationLarger = "escalation_larger", 422, "More than is asked for", "Approvers grant what is asked or less; `errors` names the field.";
    EscalationNeedless = "escalation_needless", 422, "It is so already", "Ask for more than what holds now; `detail` says what that is.";
    BudgetExhausted = "budget_exhausted", 422, "The budget is used up", "`detail` names the budget. Wait for the next month, or ask for an exception: POST /api/v1/escalations with asks_for `budget`, its id as budget, an amount and a duration; somebody else approves it.";
    BudgetNeedsApproval = "budget_needs_approval", 422, "The budget is used up, and more needs an approval", "Ask for an exception from the budget that `detail` names: POST /api/v1/escalations with asks_for `budget`, its id as budget, an amount and a duration; somebody else approves it.";
    BudgetGone = "budget_gone", 409, "The budget is gone", "There is nothing to exceed any more: deny or withdraw the request.";
    MonthNotOver = "month_not_over", 409, "The month is not settled to its end", "Wait until a few minutes after its end.";
    MonthClosed = "month_closed", 409, "The month is closed", "Nothing of it changes any more. Book a correction.";
    MonthOpen = "month_open", 409, "The month is open", "What is wrong in it can still change; corrections are for closed months.";
    SecondPersonNeeded = "second_person_needed", 409, "A second person is needed", "You proposed it yourself; somebody else who keeps the books must close it.";
    StatementChanged = "statement_changed", 409, "The month is not what you saw", "Read its statements again, and decide with the new digest.";
    OperationOver = "operation_over", 409, "The operation is over", "There is nothing to cancel any more.";
    JobIsFinal = "job_is_final", 409, "The job has ended", "Nothing can be done to an ended job but to requeue it.";
    JobNotIdle = "job_not_idle", 409, "Nothing follows from the job being idle", "Only a notice whose time still runs can be put off; GET /idle-notices?job={id} says where it stands.";
    JobNotQueued = "job_not_queued", 409, "The job does not wait", "Only a waiting job can be held or released.";
    JobNotRequeueable = "job_not_requeueable", 409, "The job cannot be requeued now", "It waits already, is leaving, or was submitted with requeue false.";
    QueueHasJobs = "queue_has_jobs", 409, "The queue has live jobs", "Set it to draining and wait, or cancel them, then delete it.";
    NodeNotEmpty = "node_not_empty", 409, "Jobs still run on the node", "Drain it and wait until it is empty, then remove it.";
    JoinTokenRefused = "join_token_refused", 401, "The join token does not let in", "It is unknown, expired, revoked or used up. Ask an administrator for a new one.";
    InstanceConflict = "instance_conflict", 409, "Another agent runs under this identity", "Stop it, or wait until its lease has run out.";
    ProtocolMismatch = "protocol_mismatch", 422, "Agent and server speak different protocols", "Update the older of the two; `detail` names both versions.";
    WorkloadRefused = "workload_refused", 401, "No rule takes this workload token", "`detail` says what is wrong with the token, or that no rule's conditions hold. An administrator can read and change the rules.";
    ProviderFailed = "provider_failed", 502, "The identity provider did not answer as it should", "`detail` says what went wrong. Check the issuer's address, and that it can be reached from the server.";
    RateLimited = "rate_limited", 429, "Too many requests", "Wait for the seconds in Retry-After. The limit is per user or token.";
    Internal = "internal", 500, "Something broke on our side", "Repeat with the same Idempotency-Key. If it stays, tell an administrator the request_id.";
    NotReady = "not_ready", 503, "The server is not ready", "`errors` names what is missing: the database, its schema, or a scheduler that is silent. Watch /readyz; the log says more.";
    Unavailable = "unavailable", 503, "Not available right now", "The database is not reachable or overloaded. Repeat after the seconds in Retry-After.";
}
