//! A tool that drives a session's browser, at the session's own node and through another one.

use super::nodes::{Nodes, SESSION};
use super::{Pairs, Side};
use crate::members::DrivenPage;
use crate::report::{Comparison, Ratio, Section, median};
use anyhow::{Result, ensure};
use baton_api::OpenCdp;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use std::time::Instant;

/// How many calls are on their way at once.
const DEPTH: usize = 32;
/// Pairs of rounds, and rounds before those, which are not counted.
const ROUNDS: usize = 30;
const WARM_UP: usize = 3;
/// 0.7 of the calls have to come through in the same time.
const AIM: f64 = 1.0 / 0.7;

/// What is asked of the page.
struct Calls {
    what: &'static str,
    expression: &'static str,
    /// How long the answer is: characters of its text.
    answer: usize,
    /// How many a round has.
    count: usize,
}

const CALLS: [Calls; 2] = [
    Calls {
        what: "a short call, through another node",
        expression: "'x'.repeat(8)",
        answer: 8,
        count: 3_000,
    },
    Calls {
        what: "a call with an answer of 64 kB, through another node",
        expression: "'x'.repeat(65536)",
        answer: 65_536,
        count: 600,
    },
];

/// A tool that is connected, and has found the tab.
struct Tool(DrivenPage);

/// Calls the page in both ways, in turn.
pub async fn measure(nodes: &Nodes) -> Result<Section> {
    let tools = [Tool::connect(nodes, Side::Own).await?, Tool::connect(nodes, Side::Other).await?];
    let (mut comparisons, mut medians) = (Vec::new(), Vec::new());
    for calls in &CALLS {
        let pairs = rounds(&tools, calls).await?;
        println!("{}: {:?}", calls.what, Ratio::of(&pairs.0));
        comparisons.push(Comparison {
            what: calls.what,
            ratio: Ratio::of(&pairs.0),
            aim: AIM,
            aim_is_for_the_bound: false,
        });
        let rate = |values: Vec<f64>| format!("{:.0} a second", 1e6 / median(values));
        medians.push((format!("{} characters, at its own node", calls.answer), rate(pairs.owns())));
        medians
            .push((format!("{} characters, through another", calls.answer), rate(pairs.others())));
    }
    Ok(Section {
        title: "A browser driven through another node of the cluster",
        method: format!(
            "Calls of `Runtime.evaluate`, {DEPTH} on their way at once over one WebSocket, at `cdp_url` of the node that \
             has the session and at that of another one; {} short ones and {} with a long answer a round, {ROUNDS} \
             rounds of each in turn. The ratio is that of the time for a call; 1.43 is 0.7 of the calls in the same \
             time. Browser, nodes and tool share the processors.",
            CALLS[0].count, CALLS[1].count
        ),
        comparisons,
        figures: Vec::new(),
        medians,
        tables: Vec::new(),
    })
}

async fn rounds(tools: &[Tool; 2], calls: &Calls) -> Result<Pairs> {
    let [own_tool, other_tool] = tools;
    let mut pairs = Pairs::default();
    for round in 0..WARM_UP + ROUNDS {
        let (mut own, mut other) = (0.0, 0.0);
        for side in Side::order(round) {
            match side {
                Side::Own => own = own_tool.round(calls).await?,
                Side::Other => other = other_tool.round(calls).await?,
            }
        }
        if round >= WARM_UP {
            pairs.0.push((other, own));
        }
    }
    Ok(pairs)
}

impl Tool {
    async fn connect(nodes: &Nodes, side: Side) -> Result<Self> {
        let client = nodes.at(side)?;
        let access = client.open_cdp(SESSION, &OpenCdp { reusable: false }).await?;
        let (asked, found) = (client.base().port(), access.cdp_url.port());
        ensure!(asked == found, "expected an address of the node that was asked");
        Ok(Self(DrivenPage::connect(&access.cdp_url).await?))
    }

    /// The microseconds that a call takes, of many that are on their way at once.
    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    async fn round(&self, calls: &Calls) -> Result<f64> {
        let begun = Instant::now();
        let asked = stream::iter(0..calls.count).map(|_| self.call(calls));
        asked.buffer_unordered(DEPTH).try_collect::<Vec<()>>().await?;
        Ok(begun.elapsed().as_secs_f64() * 1e6 / calls.count as f64)
    }

    async fn call(&self, calls: &Calls) -> Result<()> {
        let params = json!({ "expression": calls.expression, "returnByValue": true });
        let answer: Value = self.0.page.call("Runtime.evaluate", params).await?;
        let found = answer["result"]["value"].as_str().map(str::len);
        ensure!(
            found == Some(calls.answer),
            "expected {} characters, found {found:?}",
            calls.answer
        );
        Ok(())
    }
}
