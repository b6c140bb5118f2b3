//! Where a session may be logged in, for people: how sure that is, why, and for how long.

use super::history;
use super::table::{self, Table};
use baton_api::LoginList;
use baton_api::sandbox::Login;
use baton_session::login::Likelihood;
use jiff::Timestamp;

/// Each site where a session may be logged in, the likeliest first.
pub(crate) fn logins(list: &LoginList) -> String {
    if list.items.is_empty() {
        return "no login is known".to_owned();
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["SITE", "LOGIN", "KEPT", "WHY"]);
    for login in &list.items {
        let sure = match login.likelihood {
            Likelihood::Likely => "likely",
            Likelihood::Possible => "possible",
            Likelihood::Over => "over",
        };
        let why = login.sign_in.as_ref().map(|seen| seen.changed.clone()).unwrap_or_default();
        table.row([login.domain.clone(), sure.to_owned(), kept(login, now), why]);
    }
    table.render()
}

/// How sure a login is, how long it lasts, and why it is taken for one.
pub(super) fn login(login: &Login, now: Timestamp) -> String {
    let kept = kept(login, now);
    let told = match login.likelihood {
        Likelihood::Likely => kept,
        Likelihood::Possible => format!("perhaps; {kept}"),
        Likelihood::Over => format!("over; {kept}"),
    };
    match &login.sign_in {
        Some(seen) => format!("{told}; {}", seen.changed),
        None => told,
    }
}

/// In what it is kept, and for how long that lasts.
fn kept(login: &Login, now: Timestamp) -> String {
    let Login { stored, forecast, .. } = login;
    let cookies = (forecast.cookies + forecast.expired > 0).then(|| {
        history::forecast(forecast, now)
            .unwrap_or_else(|| table::counted(forecast.cookies, "cookie"))
    });
    let kept: Vec<String> =
        cookies.into_iter().chain(stored.then(|| "localStorage".to_owned())).collect();
    kept.join(", ")
}
