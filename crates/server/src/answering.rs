//! Looking in by the debug protocol: what a client is answered that asks over a WebSocket.
//!
//! The one idea: whichever node it speaks with, it hears of the tabs of all nodes, and what one of them did.

use crate::cluster::{Origin, Unreachable};
use crate::context::Context;
use crate::everywhere;
use baton_api::debug::{
    ClientMessage, ConsoleData, DebugError, DebugErrorCode, GetConsole, GetNetwork, NetworkData,
    NetworkFilters, RelayMessage, TabList, TabToken,
};
use baton_debug::relay::{LookError, Sight};
use baton_runtime::Caller;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A client that looks in, and asks.
pub(crate) struct Asker {
    pub(crate) context: Context,
    pub(crate) caller: Caller,
    /// By which way it came to this node.
    pub(crate) origin: Origin,
}

impl Asker {
    /// The answer to a message.
    pub(crate) async fn answer(&self, message: ClientMessage) -> RelayMessage {
        match message {
            ClientMessage::Heartbeat {} => RelayMessage::Heartbeat {},
            ClientMessage::ListTabs {} => self.tabs().await,
            ClientMessage::GetNetwork(question) => self.network(question).await,
            ClientMessage::GetConsole(question) => self.console(question).await,
        }
    }

    async fn network(&self, GetNetwork { request_id, token, filters }: GetNetwork) -> RelayMessage {
        // The protocol's answer has bodies: who asks in it knows no other way to them.
        let filters = NetworkFilters { bodies: true, ..filters.unwrap_or_default() };
        let (owner, bus) = (&self.caller.owner, &self.context.bus);
        let here = bus.network(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await;
        let here = here.map(|found| found.into_data(String::new(), true));
        match self.or_elsewhere(here, (&token, "network"), &filters).await {
            Ok(data) => {
                // In the protocol nothing is said of the hosts of a way out.
                let (hosts, not_reached) = (Vec::new(), Vec::new());
                RelayMessage::NetworkData(NetworkData { request_id, hosts, not_reached, ..data })
            }
            Err(why) => why.told(request_id, token),
        }
    }

    async fn console(&self, GetConsole { request_id, token, filters }: GetConsole) -> RelayMessage {
        let filters = filters.unwrap_or_default();
        let (owner, bus) = (&self.caller.owner, &self.context.bus);
        let here = bus.console(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await;
        let here = here.map(|found| found.into_data(String::new()));
        match self.or_elsewhere(here, (&token, "console"), &filters).await {
            Ok(data) => RelayMessage::ConsoleData(ConsoleData { request_id, ..data }),
            Err(why) => why.told(request_id, token),
        }
    }

    /// The tabs of all nodes, those of each in the order in which they came. A node that does not answer has none.
    async fn tabs(&self) -> RelayMessage {
        match everywhere::tabs(&self.context, &self.caller, Some(&self.origin)).await {
            Ok(mut found) => {
                found.items.reverse();
                RelayMessage::Tabs(TabList { tabs: found.items })
            }
            Err(error) => {
                let (code, message) = (DebugErrorCode::Timeout, error.to_string());
                refused(None, None, code, &message)
            }
        }
    }

    /// What this node knows of a tab, or the other one that has it.
    async fn or_elsewhere<T: DeserializeOwned + Send + 'static>(
        &self,
        here: Result<T, LookError>,
        about: (&TabToken, &str),
        filters: &impl Serialize,
    ) -> Result<T, NotTold> {
        let Self { context, caller, origin } = self;
        match here {
            Err(LookError::TabGone { token }) => {
                let told = everywhere::of_tab(context, caller, origin, about, filters).await;
                let told = told.ok_or(NotTold::Here(LookError::TabGone { token }))?;
                told.map_err(NotTold::There)
            }
            here => here.map_err(NotTold::Here),
        }
    }
}

/// Why nothing is told of a tab.
enum NotTold {
    /// This node says so.
    Here(LookError),
    /// The node that has it did not answer.
    There(Unreachable),
}

impl NotTold {
    fn told(&self, request_id: String, token: TabToken) -> RelayMessage {
        let (code, message) = match self {
            Self::Here(error) => (error.code(), error.to_string()),
            Self::There(error) => (DebugErrorCode::Timeout, error.to_string()),
        };
        refused(Some(request_id), Some(token), code, &message)
    }
}

fn refused(
    request_id: Option<String>,
    token: Option<TabToken>,
    code: DebugErrorCode,
    text: &str,
) -> RelayMessage {
    let message = text.lines().next().unwrap_or_default().to_owned();
    RelayMessage::Error(DebugError { request_id, token, offered: None, code, message })
}
