//! What whoever looks in asks over the relay's protocol; every question is answered.

use crate::context::Context;
use baton_api::debug::{
    ClientMessage, DebugError, GetConsole, GetNetwork, RelayMessage, TabList, TabToken,
};
use baton_debug::relay::{LookError, Sight};
use baton_runtime::Caller;
use std::time::Duration;

/// The answer to a message.
pub(crate) async fn answer(
    context: &Context,
    caller: &Caller,
    message: ClientMessage,
) -> RelayMessage {
    let (owner, bus) = (&caller.owner, &context.bus);
    match message {
        ClientMessage::Heartbeat {} => RelayMessage::Heartbeat {},
        ClientMessage::ListTabs {} => match bus.tabs(owner).await {
            Ok(tabs) => RelayMessage::Tabs(TabList { tabs }),
            Err(error) => refused(None, None, &error),
        },
        ClientMessage::GetNetwork(GetNetwork { request_id, token, filters }) => {
            let filters = filters.unwrap_or_default();
            match bus.network(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await {
                // The protocol's answer has bodies: who asks in it knows no other way to them.
                Ok(found) => RelayMessage::NetworkData(found.into_data(request_id, true)),
                Err(error) => refused(Some(request_id), Some(token), &error),
            }
        }
        ClientMessage::GetConsole(GetConsole { request_id, token, filters }) => {
            let filters = filters.unwrap_or_default();
            match bus.console(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await {
                Ok(found) => RelayMessage::ConsoleData(found.into_data(request_id)),
                Err(error) => refused(Some(request_id), Some(token), &error),
            }
        }
    }
}

fn refused(request_id: Option<String>, token: Option<TabToken>, error: &LookError) -> RelayMessage {
    let code = error.code();
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().to_owned();
    RelayMessage::Error(DebugError { request_id, token, offered: None, code, message })
}
