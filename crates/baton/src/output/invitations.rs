//! Invitations, for people: what is typed on the other machine, and the same as a picture.

use super::qr::picture;
use super::table;
use super::table::Table;
use baton_api::sync::{CreatedInvitation, InvitationList, PeerView};
use jiff::Timestamp;
use url::Url;

/// The command that is typed on the other machine; on a terminal with the invitation as a QR code below it.
pub(crate) fn invitation(created: &CreatedInvitation, with_picture: bool) -> String {
    let command = format!("baton peers join {}", created.code);
    let picture = Some(&created.code).filter(|_| with_picture).and_then(|code| picture(code));
    match picture {
        Some(picture) => format!("{command}\n\n{picture}"),
        None => command,
    }
}

/// Until when an invitation counts, and where this machine is asked.
pub(crate) fn invitation_counts(created: &CreatedInvitation) -> String {
    let ends = table::until(created.expires_at, Timestamp::now());
    format!(
        "it counts once and ends {ends}; the other machine asks this one at {}",
        addresses(&created.addresses)
    )
}

fn addresses(all: &[Url]) -> String {
    all.iter().map(|url| url.as_str().trim_end_matches('/')).collect::<Vec<_>>().join(" or ")
}

/// What is done with a file that holds an invitation.
pub(crate) fn invitation_card(path: &str) -> String {
    let file =
        std::path::Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    let name = shell_words::quote(&file).into_owned();
    format!(
        "wrote {path}; take it to the other machine, and run there: baton peers join --card {name}"
    )
}

/// The open invitations, and where the node listens for peers.
pub(crate) fn invitations(list: &InvitationList) -> String {
    let listens = match list.listens {
        Some(address) => format!("this node listens for peers at {address}"),
        None => "this node does not listen for peers besides its own address".to_owned(),
    };
    if list.items.is_empty() {
        return format!("{listens}\nno open invitations; baton peers invite makes one");
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["INVITATION", "MADE", "ENDS"]);
    for one in &list.items {
        let (made, ends) = (table::age(one.created_at, now), table::until(one.expires_at, now));
        table.row([one.id.clone(), made, ends]);
    }
    format!("{listens}\n{}", table.render())
}

/// The other machine, which is a peer now.
pub(crate) fn joined(peer: &PeerView) -> String {
    let name = table::plain(&peer.name);
    let url = peer.url.as_ref().map_or("", Url::as_str).trim_end_matches('/');
    format!(
        "joined {name} at {url}: each is a confirmed peer of the other\n\
         baton save makes a session one that moves, and baton sync run moves them"
    )
}

#[cfg(test)]
mod tests {
    use super::picture;

    #[test]
    fn an_invitation_is_a_picture_that_fits_a_terminal() {
        let code = format!("BATON-{}", "AEBAGBAF".repeat(24));
        let picture = picture(&code).unwrap();
        let width = picture.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width <= 78, "{width}\n{picture}");
        assert!(picture.lines().all(|line| line.chars().all(|block| " █▀▄".contains(block))));
    }
}
