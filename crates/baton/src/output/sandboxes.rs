//! How sandboxes read.

use super::table::Table;
use super::{history, receipt, style};
use baton_api::sandbox::{
    EndedSandbox, Enforcement, HandedIn, Login, SandboxList, SandboxView, WrittenBack,
};
use baton_session::login::Likelihood;
use jiff::Timestamp;

/// A list of sandboxes.
pub(crate) fn sandboxes(list: &SandboxList) -> String {
    if list.items.is_empty() {
        return "no sandboxes\nbaton sandbox create makes one".to_owned();
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["ID", "FLAVOR", "SESSION", "ENDS"]);
    for sandbox in &list.items {
        table.row([
            sandbox.id.to_string(),
            sandbox.flavor.clone(),
            sandbox.browser_session.as_ref().map_or_else(|| "none".to_owned(), session),
            style::until(sandbox.expires_at, now),
        ]);
    }
    table.render()
}

fn session(handed: &HandedIn) -> String {
    let name = handed.name.as_ref().map_or_else(|| "inline".to_owned(), ToString::to_string);
    if handed.session_id.is_some() && !handed.writes_back { format!("{name} (copy)") } else { name }
}

/// A sandbox in full.
pub(crate) fn sandbox(view: &SandboxView) -> String {
    let now = Timestamp::now();
    let allowed = view.allowed;
    let mut lines = vec![
        format!("sandbox   {}", view.id),
        format!("flavor    {}", view.flavor),
        format!("ends      {}", style::until(view.expires_at, now)),
        format!(
            "may use   {} of memory, {} of files, {} processes, {} processors",
            style::size(allowed.memory),
            style::size(allowed.disk),
            allowed.processes,
            allowed.processors
        ),
    ];
    if view.limits == Enforcement::NotEnforced {
        let why = view.limits_reason.as_deref().unwrap_or("this machine does not allow it");
        lines.push(format!("limits    {}: {why}", style::doubtful("not enforced")));
    }
    if let Some(vnc) = &view.vnc {
        let password = vnc.password.as_deref().map(|word| format!(", password {word}"));
        lines.push(format!("vnc       {}{}", vnc.address, password.unwrap_or_default()));
    }
    if let Some(handed) = &view.browser_session {
        lines.push(format!("session   {}", session(handed)));
        let back = if handed.writes_back { "when it ends" } else { "never" };
        lines.push(format!("back      written back {back}"));
        for login in &handed.logins {
            lines.push(format!("login     {}: {}", login.domain, told_of(login, now)));
        }
        lines.push(String::new());
        lines.push(receipt::receipt_of_profile(&handed.receipt));
    }
    lines.join("\n")
}

/// How sure a login is, and how long it lasts.
fn told_of(login: &Login, now: Timestamp) -> String {
    let Login { likelihood, stored, forecast, .. } = login;
    let cookies = (forecast.cookies + forecast.expired > 0).then(|| {
        history::forecast(forecast, now)
            .unwrap_or_else(|| style::counted(forecast.cookies, "cookie"))
    });
    let kept: Vec<String> =
        cookies.into_iter().chain(stored.then(|| "localStorage".to_owned())).collect();
    let kept = kept.join(", ");
    match likelihood {
        Likelihood::Likely => kept,
        Likelihood::Possible => format!("perhaps; {kept}"),
        Likelihood::Over => format!("over; {kept}"),
    }
}

/// What became of a sandbox's session.
pub(crate) fn ended_sandbox(ended: &EndedSandbox) -> String {
    let id = ended.id;
    let Some(written) = &ended.browser_session else { return format!("ended {id}") };
    let told = written_back(ended, written);
    if written.left_out.items.is_empty() {
        return told;
    }
    format!("{told}\n\n{}", receipt::receipt(&written.left_out))
}

fn written_back(ended: &EndedSandbox, written: &WrittenBack) -> String {
    let id = ended.id;
    match (&written.snapshot, &written.reason) {
        (Some(snapshot), _) if written.shrunk => format!(
            "ended {id}; {} lost more than half of its cookies or storage: snapshot {snapshot} is kept, and a resume passes it over",
            written.session_id
        ),
        (Some(snapshot), None) => {
            format!(
                "ended {id}; session {} is written back: snapshot {snapshot}",
                written.session_id
            )
        }
        (Some(snapshot), Some(why)) => format!("ended {id}; snapshot {snapshot}: {why}"),
        (None, why) => {
            let why = why.as_deref().unwrap_or("nothing could be read");
            format!("ended {id}; session {} is as it was: {why}", written.session_id)
        }
    }
}
