//! The command line: what there is to say, and who does it.
//!
//! Secrets come by environment, file or standard input; there is no option that takes one, because every user of a
//! machine can read the arguments of its processes.

use crate::client::Client;
use crate::commands::{
    act, admin, audit, budgets, check, code, completions, decide, escalate, idle, join_token, list, login,
    logs, maintenance, man, migrate, notification, oidc, openapi, operations, pool, postgres, prices,
    priority_budget, reservation, run, serve, session, show, statement, submit, usage, webhook, what_if,
    workload,
};
use crate::config::{self, Overrides};
use crate::output::Output;
use crate::{bench, demo, exit, replay, scenario, simulate};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Governs a GPU pool that several teams share.
#[derive(Debug, Parser)]
#[command(name = "reeve", version, arg_required_else_help = true, after_help = exit::HELP)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct GlobalArgs {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    json: bool,
    /// A TOML file with settings (default: /etc/reeve/reeve.toml when it exists)
    #[arg(long, global = true, env = "REEVE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The server to talk to (default: where you signed in, else http://127.0.0.1:8080)
    #[arg(long, global = true, env = "REEVE_SERVER", value_name = "URL")]
    server: Option<String>,
    /// PostgreSQL, for commands that run the server or look into its database
    #[arg(long, global = true, env = "REEVE_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: Option<String>,
    /// PostgreSQL as the schema's owner, who migrates; the server then works as another role that can change no event
    #[arg(
        long,
        global = true,
        env = "REEVE_DATABASE_OWNER_URL",
        hide_env_values = true,
        value_name = "URL",
        hide = true
    )]
    database_owner_url: Option<String>,
    /// The key that signs checkpoints of the audit log, made at the first start
    #[arg(long, global = true, env = "REEVE_AUDIT_KEY_FILE", value_name = "FILE", hide = true)]
    audit_key_file: Option<PathBuf>,
    /// Requests a second that one caller may send, when this runs the server
    #[arg(long, global = true, env = "REEVE_RATE_LIMIT_PER_SECOND", value_name = "N", hide = true)]
    requests_per_second: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server: REST API, console and scheduler
    Serve(serve::ServeArgs),
    /// Make the first administrator
    #[command(subcommand)]
    Admin(admin::AdminCommand),
    /// Print the REST API's OpenAPI document
    Openapi,
    /// Measure and print the figures; asserts nothing
    Bench(bench::command::BenchArgs),
    /// Bring the database's schema up to date
    Migrate,
    /// Look the whole database over: exit 1 and a line for each violation
    Check,
    /// Read the audit log, export it, and prove that nobody changed it
    #[command(subcommand)]
    Audit(audit::command::AuditCommand),
    /// Print the settings in force, secrets left out
    Config,
    /// Run a private PostgreSQL
    #[command(subcommand)]
    Postgres(postgres::PostgresCommand),
    /// Test policies by scenario files
    Scenario(scenario::ScenarioArgs),
    /// Sign in, and keep an API token in the configuration folder
    Login(login::LoginArgs),
    /// Revoke the token and forget it
    Logout,
    /// Submit a job
    Submit(Box<submit::SubmitArgs>),
    /// Run a command on GPUs as if it ran here: prints what it writes, ends as it ends
    Run(Box<run::RunArgs>),
    /// List jobs
    Jobs(list::JobsArgs),
    /// Show one job
    Job(show::IdArgs),
    /// Show a queue in its real order of service, or list the queues
    Queue(list::QueueArgs),
    /// Cancel jobs
    Cancel(act::ActArgs),
    /// Keep waiting jobs from starting
    Hold(act::ActArgs),
    /// Let held jobs start again
    Release(act::ActArgs),
    /// List jobs whose GPUs compute nothing, and what follows
    Idle(idle::IdleArgs),
    /// Put off what follows from a job being idle
    Snooze(idle::SnoozeArgs),
    /// Say why a job waits, and what would help
    Explain(show::ExplainArgs),
    /// What would happen if: a job, a priority, a quota, a policy or a lost node is imagined on the live state
    WhatIf(what_if::WhatIfArgs),
    /// A job's rules (grace, minimum run time, ceiling, …), and which queue, team or installation set each
    Rules(show::IdArgs),
    /// Print a job's output
    Logs(logs::LogsArgs),
    /// List nodes
    Nodes(list::NodesArgs),
    /// Show guarantees and their use
    Quota(list::QuotaArgs),
    /// List loans
    Loans(list::LoansArgs),
    /// List reclaims
    Reclaims(list::ReclaimsArgs),
    /// GPU-hours of teams, guaranteed, borrowed, lent and idle, and what they cost
    Usage(usage::UsageArgs),
    /// Statements of a month, and closing it
    #[command(subcommand)]
    Statement(statement::StatementCommand),
    /// The price book
    #[command(subcommand)]
    Prices(prices::PricesCommand),
    /// Monthly budgets
    #[command(subcommand)]
    Budgets(budgets::BudgetsCommand),
    /// Long exports: CSV, JSON Lines, XLSX, FOCUS
    #[command(subcommand)]
    Operations(operations::OperationsCommand),
    /// Reserve GPUs of a pool for a team
    #[command(subcommand)]
    Reservation(reservation::ReservationCommand),
    /// Times in which nodes take no work
    #[command(subcommand)]
    Maintenance(maintenance::MaintenanceCommand),
    /// Ask for more than the rules give: priority, quota, budget, or not to be evicted
    Escalate(Box<escalate::EscalateArgs>),
    /// List what was asked for
    Escalations(escalate::EscalationsArgs),
    /// Show one, with what it would do now
    Escalation(escalate::ShowArgs),
    /// List what waits for your decision or review
    Approvals(escalate::InboxArgs),
    /// Approve an escalation's step: the whole, or less of it
    Approve(decide::ApproveArgs),
    /// Deny an escalation
    Deny(decide::CommentArgs),
    /// Take your own request back
    Withdraw(decide::WithdrawArgs),
    /// End an escalation before its time
    Revoke(decide::CommentArgs),
    /// Ask for an active escalation to go on
    Renew(decide::RenewArgs),
    /// Hand an escalation's step to a person
    Delegate(decide::DelegateArgs),
    /// Review an emergency that was activated without approval
    Review(decide::ReviewArgs),
    /// High-priority GPU-hours a month
    #[command(subcommand)]
    PriorityBudget(priority_budget::PriorityBudgetCommand),
    /// Print pools, teams, queues, quotas, budgets and the policy as one document
    Export(code::ExportArgs),
    /// Compare a document with what stands; exit 1 when they differ
    Diff(code::DiffArgs),
    /// Make everything as a document says
    Apply(code::ApplyArgs),
    /// Make pools
    #[command(subcommand)]
    Pool(pool::PoolCommand),
    /// Let nodes join
    #[command(subcommand)]
    JoinToken(join_token::JoinTokenCommand),
    /// Where you are signed in
    #[command(subcommand)]
    Sessions(session::SessionCommand),
    /// Identity providers that people sign in with
    #[command(subcommand)]
    Oidc(oidc::OidcCommand),
    /// Pipelines that come in with a token of their own platform
    #[command(subcommand)]
    Workload(workload::WorkloadCommand),
    /// Where events are sent: webhooks and chat robots
    #[command(subcommand)]
    Webhooks(webhook::WebhookCommand),
    /// What you, or a team's members, get mail about
    Notifications(notification::NotificationArgs),
    /// Run a whole installation on this machine, live: teams that lend, borrow and take back
    Demo(demo::DemoArgs),
    /// Submit a recorded trace of jobs through the REST API, as a pipeline would
    Replay(replay::ReplayArgs),
    /// What would this policy have done with our last month? A trace, on a virtual clock
    Simulate(Box<simulate::SimulateArgs>),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write manual pages of all commands
    Man(man::ManArgs),
}

/// The program: reads the command line, runs, and says in one message why it failed.
pub(crate) fn start() -> ExitCode {
    // A second installation is refused, and harmless.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let cli = Cli::parse();
    init_log(matches!(cli.command, Command::Serve(_)));
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run(cli)));
    match outcome {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}

/// A server tells what it does; a command only what went wrong.
fn init_log(server: bool) {
    let usual = if server { "info,sqlx=warn" } else { "warn" };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let output = Output::new(cli.global.json);
    let settings = config::load(&Overrides {
        file: cli.global.config,
        server: cli.global.server,
        database_url: cli.global.database_url,
        database_owner_url: cli.global.database_owner_url,
        audit_key_file: cli.global.audit_key_file,
        requests_per_second: cli.global.requests_per_second,
    })?;
    let done = ExitCode::SUCCESS;
    match cli.command {
        Command::Demo(args) => demo::run(&settings, args).await.map(|()| done),
        Command::Serve(args) => serve::run(&settings, args).await.map(|()| done),
        Command::Admin(command) => admin::run(&settings, command).await.map(|()| done),
        Command::Openapi => {
            openapi::run();
            Ok(done)
        }
        Command::Bench(args) => bench::command::run(args).await.map(|()| done),
        Command::Migrate => migrate::run(&settings).await.map(|()| done),
        Command::Check => check::run(&settings, output).await,
        Command::Audit(command) => audit::command::run(&settings, command, output).await,
        Command::Config => output.json(&settings.redacted()).map(|()| done),
        Command::Postgres(command) => postgres::run(command).await,
        Command::Scenario(args) => scenario::run(args),
        Command::Simulate(args) => tokio::task::block_in_place(|| simulate::run(&args, output)),
        Command::Completions(args) => {
            completions::run(&args, &mut Cli::command());
            Ok(done)
        }
        Command::Man(args) => man::run(&args, Cli::command()).map(|()| done),
        Command::Login(args) => login::sign_in(args, &settings, output).await.map(|()| done),
        Command::Workload(workload::WorkloadCommand::Exchange) => {
            workload::exchange(&settings, output).await.map(|()| done)
        }
        Command::Logout => login::sign_out(&settings).await.map(|()| done),
        command => run_signed_in(command, &Client::signed_in(&settings)?, output).await,
    }
}

async fn run_signed_in(command: Command, client: &Client, output: Output) -> anyhow::Result<ExitCode> {
    let result = match command {
        Command::Submit(args) => return submit::run(*args, client, output).await,
        Command::Run(args) => return run::run(*args, client).await,
        Command::Jobs(args) => list::jobs(args, client, output).await,
        Command::Job(args) => show::job(args, client, output).await,
        Command::Queue(args) => list::queue(args, client, output).await,
        Command::Cancel(args) => act::run("cancel", args, client, output).await,
        Command::Hold(args) => act::run("hold", args, client, output).await,
        Command::Release(args) => act::run("release", args, client, output).await,
        Command::Idle(args) => idle::list(args, client, output).await,
        Command::Snooze(args) => idle::snooze(args, client, output).await,
        Command::Explain(args) => show::explain(args, client, output).await,
        Command::WhatIf(args) => what_if::run(args, client, output).await,
        Command::Rules(args) => show::rules(args, client, output).await,
        Command::Logs(args) => logs::run(args, client).await,
        Command::Nodes(args) => list::nodes(args, client, output).await,
        Command::Quota(args) => list::quota(args, client, output).await,
        Command::Loans(args) => list::loans(args, client, output).await,
        Command::Reclaims(args) => list::reclaims(args, client, output).await,
        Command::Usage(args) => usage::run(args, client, output).await,
        Command::Statement(command) => statement::run(command, client, output).await,
        Command::Prices(command) => prices::run(command, client, output).await,
        Command::Budgets(command) => budgets::run(command, client, output).await,
        Command::Operations(command) => operations::run(command, client, output).await,
        Command::Reservation(command) => reservation::run(command, client, output).await,
        Command::Maintenance(command) => maintenance::run(command, client, output).await,
        Command::Export(args) => code::export(args, client, output).await,
        Command::Diff(args) => return code::diff(args, client, output).await,
        Command::Apply(args) => code::apply(args, client, output).await,
        command @ (Command::Escalate(_)
        | Command::Escalations(_)
        | Command::Escalation(_)
        | Command::Approvals(_)
        | Command::Approve(_)
        | Command::Deny(_)
        | Command::Withdraw(_)
        | Command::Revoke(_)
        | Command::Renew(_)
        | Command::Delegate(_)
        | Command::Review(_)
        | Command::PriorityBudget(_)) => run_approvals(command, client, output).await,
        Command::Pool(command) => pool::run(command, client, output).await,
        Command::JoinToken(command) => join_token::run(command, client, output).await,
        Command::Sessions(command) => session::run(command, client, output).await,
        Command::Oidc(command) => oidc::run(command, client, output).await,
        Command::Workload(command) => workload::run(command, client, output).await,
        Command::Webhooks(command) => webhook::run(command, client, output).await,
        Command::Notifications(args) => notification::run(args, client, output).await,
        Command::Replay(args) => replay::run(args, client, output).await,
        // Served above, without a server to talk to.
        _ => Ok(()),
    };
    result.map(|()| ExitCode::SUCCESS)
}

async fn run_approvals(command: Command, client: &Client, output: Output) -> anyhow::Result<()> {
    match command {
        Command::Escalate(args) => escalate::request(*args, client, output).await,
        Command::Escalations(args) => escalate::list(args, client, output).await,
        Command::Escalation(args) => escalate::show(args, client, output).await,
        Command::Approvals(args) => escalate::inbox(args, client, output).await,
        Command::Approve(args) => decide::approve(args, client, output).await,
        Command::Deny(args) => decide::deny(args, client, output).await,
        Command::Withdraw(args) => decide::withdraw(args, client, output).await,
        Command::Revoke(args) => decide::revoke(args, client, output).await,
        Command::Renew(args) => decide::renew(args, client, output).await,
        Command::Delegate(args) => decide::delegate(args, client, output).await,
        Command::Review(args) => decide::review(args, client, output).await,
        Command::PriorityBudget(command) => priority_budget::run(command, client, output).await,
        // Nothing else comes here.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_option_takes_a_password_or_a_token() {
        fn walk(command: &clap::Command, found: &mut Vec<String>) {
            for argument in command.get_arguments() {
                let name = argument.get_id().as_str();
                let takes_value = argument.get_action().takes_values();
                if takes_value && ["password", "token", "secret"].contains(&name) {
                    found.push(format!("{} {name}", command.get_name()));
                }
            }
            command.get_subcommands().for_each(|sub| walk(sub, found));
        }
        let mut found = Vec::new();
        walk(&Cli::command(), &mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
