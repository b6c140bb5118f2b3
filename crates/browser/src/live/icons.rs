//! The icons of sites that a running browser has shown, so that each site is asked once.
//!
//! The one idea: that a site has none is remembered as well, but only for as long as the tab in front
//! stays there; what was missing for a moment is found when somebody comes back.

use crate::icon::SiteIcon;
use baton_session::Site;
use std::collections::VecDeque;

/// Of how many sites the icon is remembered.
const SITES_MAX: usize = 64;

/// What is known of the icons of sites.
#[derive(Debug, Default)]
pub(crate) struct Icons {
    /// Those of sites that have one, from the oldest to the newest.
    found: VecDeque<SiteIcon>,
    /// The site in front, when it was asked and has none.
    none: Option<Site>,
}

impl Icons {
    /// The tab in front shows this site: what is known of its icon, or nothing when it is to be asked.
    pub(crate) fn visit(&mut self, site: &Site) -> Option<SiteIcon> {
        self.none.take_if(|none| none != site);
        let none = self.none.clone().map(|site| SiteIcon { site, png: None });
        none.or_else(|| self.found.iter().find(|known| known.site == *site).cloned())
    }

    /// Remembers what was found of a site that was not known.
    pub(crate) fn learn(&mut self, icon: SiteIcon) {
        if icon.png.is_none() {
            self.none = Some(icon.site);
            return;
        }
        self.found.retain(|known| known.site != icon.site);
        if self.found.len() == SITES_MAX {
            self.found.pop_front();
        }
        self.found.push_back(icon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn icon(host: &str, png: Option<&[u8]>) -> SiteIcon {
        SiteIcon { site: Site::of_host(host), png: png.map(<[u8]>::to_vec) }
    }

    #[test]
    fn a_site_without_an_icon_is_asked_again_once_another_was_in_front() {
        let (shop, bank) = (Site::of_host("shop.test"), Site::of_host("bank.test"));
        let mut icons = Icons::default();
        assert_eq!(icons.visit(&shop), None);
        icons.learn(icon("shop.test", None));
        assert_eq!(icons.visit(&shop), Some(icon("shop.test", None)));
        assert_eq!(icons.visit(&bank), None);
        assert_eq!(icons.visit(&shop), None);
        icons.learn(icon("shop.test", Some(b"png")));
        assert_eq!(icons.visit(&bank), None);
        assert_eq!(icons.visit(&shop), Some(icon("shop.test", Some(b"png"))));
    }

    #[test]
    fn the_oldest_is_forgotten_beyond_the_bound() {
        let mut icons = Icons::default();
        let host = |at: usize| format!("s{at}.test");
        for at in 0..=SITES_MAX {
            icons.learn(icon(&host(at), Some(b"png")));
        }
        assert_eq!(icons.found.len(), SITES_MAX);
        assert_eq!(icons.visit(&Site::of_host(&host(0))), None);
        assert!(icons.visit(&Site::of_host(&host(SITES_MAX))).is_some());
    }
}
