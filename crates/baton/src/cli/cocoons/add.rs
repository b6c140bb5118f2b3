//! `baton cocoons add`

use super::Context;
use crate::output;
use baton_api::Exit;
use baton_api::cocoon::{CocoonAccess, CocoonId, CocoonList, CocoonPages, PutCocoon};
use baton_session::Owner;
use clap::Args;

/// Put the proxy in front of a service, or say something else of it
#[derive(Debug, Args)]
#[command(after_help = "\
It counts at once, and after every start. What the settings name under [[cocoons]] is changed there.

Example:
  baton cocoons add shop http://127.0.0.1:3000
  baton cocoons add shop http://127.0.0.1:3000 --with-key   with a key")]
pub(crate) struct Add {
    /// 1 to 63 lower-case letters, digits or '-': it stands in host names
    #[arg(value_name = "ID")]
    id: CocoonId,
    /// Where the service answers
    #[arg(value_name = "URL")]
    upstream: String,
    /// What people call it [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// Whose it is [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
    /// Ask for a key of its owner [default: it is for this machine only]
    #[arg(long)]
    with_key: bool,
    /// Pass its pages on without a token: nobody looks into them
    #[arg(long)]
    no_debug: bool,
    /// A path whose pages get no token; may be given more than once
    #[arg(long, value_name = "PATH")]
    exclude_path: Vec<String>,
}

impl Add {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let request = PutCocoon {
            name: self.name,
            upstream: self.upstream,
            owner: self.owner,
            access: if self.with_key { CocoonAccess::Key } else { CocoonAccess::Loopback },
            browser_debug: CocoonPages {
                enabled: self.no_debug.then_some(false),
                exclude_paths: Some(self.exclude_path).filter(|paths| !paths.is_empty()),
                ..CocoonPages::default()
            },
        };
        let put = context.client().await?.put_cocoon(&self.id, &request).await?;
        context.output.answer(&put, || output::cocoons(&CocoonList { items: vec![put.clone()] }));
        if put.urls.is_empty() {
            context.output.note("the node has no proxy yet: set [proxy] listen in its settings");
        }
        Ok(Exit::Done)
    }
}
