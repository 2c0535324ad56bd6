//! `mainspring limit …`: what may run at once and how fast, how it stands, and letting go of what was closed.

mod show;
mod spec;

use clap::{Args, Subcommand};
use mainspring_wire::{LimitBreaker, LimitRate, LimitRule, Span};
use mainspring_worker::Client;

use crate::commands::limit::spec::{RatePerSpan, RatioInWindow};
use crate::exit::Usage;
use crate::output::Format;

#[derive(Subcommand, Debug)]
pub enum LimitCommand {
    /// Every limit, and how it stands where something is held, spent or closed
    List,
    /// What holds in a reach, and how it stands
    Get {
        #[arg(help = REACH)]
        reach: String,
    },
    /// Set what holds in a reach, in place of what held there before; at once, also for what waits and runs
    #[command(after_help = EXAMPLES)]
    Set(SetArgs),
    /// Limit nothing by this rule any more
    Remove {
        #[arg(help = REACH)]
        reach: String,
    },
    /// Forget what workers were told to keep away from, and close the breakers, at every gate in reach
    Reopen {
        #[arg(help = REACH)]
        reach: String,
    },
}

const REACH: &str = "queue:NAME, type:NAME, key:TEXT, each also as PREFIX* for each by itself, or tenant";

const EXAMPLES: &str = "\
Examples:
  mainspring limit set queue:reports --concurrency 4
  mainspring limit set 'key:customer:*' --concurrency 2 --rate 100/1m --burst 20
  mainspring limit set type:resize --breaker 50%/1m --cooldown 30s
  mainspring --tenant acme limit set tenant --weight 3";

#[derive(Args, Debug, Default)]
pub struct SetArgs {
    #[arg(help = REACH)]
    reach: String,
    /// How much weight may run at once; 0 lets nothing start
    #[arg(long, value_name = "WEIGHT")]
    concurrency: Option<u32>,
    /// How much weight may start in a span of time, such as 100/1m
    #[arg(long, value_name = "N/SPAN")]
    rate: Option<RatePerSpan>,
    /// How much of the rate may start in one instant; all of it if left out
    #[arg(long, value_name = "N", requires = "rate")]
    burst: Option<u32>,
    /// Stop when this part of the attempts in the window failed, such as 50%/1m or 0.5
    #[arg(long, value_name = "RATIO[/SPAN]")]
    breaker: Option<RatioInWindow>,
    /// With --breaker: with fewer attempts in the window it never opens [default: 20]
    #[arg(long, value_name = "N", requires = "breaker")]
    min_attempts: Option<u32>,
    /// With --breaker: how long it stays open before it probes [default: 30s]
    #[arg(long, value_name = "SPAN", requires = "breaker")]
    cooldown: Option<Span>,
    /// With --breaker: how many jobs probe at a time [default: 1]
    #[arg(long, value_name = "N", requires = "breaker")]
    probes: Option<u32>,
    /// With --breaker: how many probes must succeed for it to close [default: 3]
    #[arg(long, value_name = "N", requires = "breaker")]
    closes_after: Option<u32>,
    /// On tenant only: its share among the tenants of a queue name
    #[arg(long, value_name = "N")]
    weight: Option<u32>,
}

impl LimitCommand {
    pub async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let view = match self {
            LimitCommand::List => return format.print(&client.limits().await?, show::limits),
            LimitCommand::Get { reach } => client.limit(&reach).await?,
            LimitCommand::Set(args) => client.set_limit(&args.reach, &args.rule()?).await?,
            LimitCommand::Reopen { reach } => client.reopen_limit(&reach).await?,
            LimitCommand::Remove { reach } => {
                client.remove_limit(&reach).await?;
                eprintln!("nothing is limited by {reach} any more");
                return Ok(());
            }
        };
        format.print(&view, show::limit)
    }
}

impl SetArgs {
    fn rule(&self) -> Result<LimitRule, Usage> {
        let rate = self.rate.map(|RatePerSpan { permits, per }| LimitRate { permits, per, burst: self.burst });
        let breaker = self.breaker.map(|RatioInWindow { ratio, window }| LimitBreaker {
            failure_ratio: Some(ratio),
            window,
            min_attempts: self.min_attempts,
            cooldown: self.cooldown,
            probes: self.probes,
            closes_after: self.closes_after,
        });
        let rule = LimitRule { concurrency: self.concurrency, rate, breaker, weight: self.weight };
        if rule == LimitRule::default() {
            let how = "give --concurrency, --rate, --breaker or, on tenant, --weight; `limit remove` lifts a limit";
            return Err(Usage(format!("nothing to set: {how}")));
        }
        Ok(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_what_is_set() {
        let check = |args: SetArgs, json: &str| {
            let rule = args.rule().expect("something is set");
            assert_eq!(serde_json::to_string(&rule).expect("a rule prints"), json);
        };
        check(SetArgs { concurrency: Some(0), ..SetArgs::default() }, r#"{"concurrency":0}"#);
        let rate = Some("100/1m".parse().expect("a rate"));
        check(
            SetArgs { rate, burst: Some(20), ..SetArgs::default() },
            r#"{"rate":{"permits":100,"per":"1m","burst":20}}"#,
        );
        let breaker = Some("25%/10s".parse().expect("a ratio"));
        check(
            SetArgs { breaker, probes: Some(2), ..SetArgs::default() },
            r#"{"breaker":{"failure_ratio":0.25,"window":"10s","probes":2}}"#,
        );
        check(SetArgs { weight: Some(3), ..SetArgs::default() }, r#"{"weight":3}"#);
        let nothing = SetArgs::default().rule().expect_err("nothing is set");
        assert!(nothing.0.contains("limit remove"), "{}", nothing.0);
    }
}
