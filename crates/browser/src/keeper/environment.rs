//! What a keeper says to every page, frame and worker before its first script: what pages see that no switch of
//! a launch gives.

use super::prelude::{PreludeCall, TargetKind};
use baton_session::state::Geolocation;
use baton_session::{Environment, Identity};
use serde_json::{Map, Value, json};

const EVERYWHERE: [TargetKind; 3] = [TargetKind::Page, TargetKind::Frame, TargetKind::Worker];
const DOCUMENTS: [TargetKind; 2] = [TargetKind::Page, TargetKind::Frame];

/// What must hold from the first script on and cannot be given at launch.
pub fn prelude(environment: &Environment) -> Vec<PreludeCall> {
    let mut calls = Vec::from_iter(environment.geolocation.map(place));
    if let Some(identity) = &environment.identity {
        calls.extend(hints(environment.user_agent.as_deref(), identity));
        calls.extend(machine(identity));
        calls.extend(taste(identity));
    }
    calls
}

fn call(method: &str, params: Value, targets: &[TargetKind]) -> PreludeCall {
    PreludeCall { method: method.to_owned(), params, targets: targets.to_vec() }
}

/// On pages: what it sets there holds in all their frames.
fn place(Geolocation { latitude, longitude, accuracy }: Geolocation) -> PreludeCall {
    // That sites may know it is written in the profile: granted over CDP, it would end with any other client
    // that granted something and left.
    let place = json!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy });
    call("Emulation.setGeolocationOverride", place, &[])
}

/// Client hints, which the browser takes beside a user agent only.
fn hints(user_agent: Option<&str>, identity: &Identity) -> Option<PreludeCall> {
    let (user_agent, metadata) = (user_agent?, identity.metadata.as_ref()?);
    let hints = json!({ "userAgent": user_agent, "userAgentMetadata": metadata });
    Some(call("Emulation.setUserAgentOverride", hints, &EVERYWHERE))
}

/// What a page sees of its machine.
///
/// The browser can say some of this itself (`Emulation`), but not in workers; and in a page it is one setting of
/// all that debug that page, so that any of them that ends takes it back (`InspectorEmulationAgent::disable` in
/// Blink). A script is not undone.
fn machine(identity: &Identity) -> Vec<PreludeCall> {
    let mut says = Map::new();
    let mut say = |name: &str, value: Option<Value>| {
        says.extend(value.map(|value| (name.to_owned(), value)));
    };
    say("platform", identity.platform.as_ref().map(|platform| json!(platform)));
    say("hardwareConcurrency", identity.hardware_concurrency.map(|count| json!(count)));
    // None is what there is without a word.
    let points = identity.max_touch_points.filter(|points| *points > 0);
    say("maxTouchPoints", points.map(|points| json!(points)));
    if says.is_empty() {
        return Vec::new();
    }
    let script = navigator_script(&says);
    let in_documents = json!({ "source": script, "runImmediately": true });
    let in_workers = json!({ "expression": script });
    vec![
        // Without this the browser runs no script in new documents.
        call("Page.enable", json!({}), &DOCUMENTS),
        call("Page.addScriptToEvaluateOnNewDocument", in_documents, &DOCUMENTS),
        call("Runtime.evaluate", in_workers, &[TargetKind::Worker]),
    ]
}

/// What a frame in a process of its own is told late: it begins with the usual, whatever the launch said.
fn taste(identity: &Identity) -> Option<PreludeCall> {
    let scheme = identity.color_scheme.map(|scheme| ("color-scheme", scheme.as_str()));
    let motion = identity
        .reduced_motion
        .map(|reduced| ("reduced-motion", if reduced { "reduce" } else { "no-preference" }));
    let features: Vec<Value> = scheme
        .into_iter()
        .chain(motion)
        .map(|(name, value)| json!({ "name": format!("prefers-{name}"), "value": value }))
        .collect();
    let media = (!features.is_empty()).then(|| json!({ "features": features }))?;
    Some(call("Emulation.setEmulatedMedia", media, &[TargetKind::Frame]))
}

/// Has `navigator` say this, as far as it says anything there.
fn navigator_script(says: &Map<String, Value>) -> String {
    format!(
        "(() => {{
            const {{ prototype }} = self.WorkerNavigator ?? self.Navigator ?? {{}};
            for (const [name, value] of Object.entries({})) {{
                const own = prototype && Object.getOwnPropertyDescriptor(prototype, name);
                if (!own) continue;
                const get = Object.defineProperty((() => value).bind(), 'name', {{ value: own.get.name }});
                Object.defineProperty(prototype, name, {{ ...own, get }});
            }}
        }})()",
        json!(says)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(environment: &Environment) -> Vec<String> {
        prelude(environment).into_iter().map(|call| call.method).collect()
    }

    #[test]
    fn who_says_nothing_of_it_has_none() {
        let user_agent = Some("Baton test".to_owned());
        let identity = Some(Identity {
            device_scale_factor: Some(2.0),
            max_touch_points: Some(0),
            languages: vec!["de".to_owned()],
            ..Identity::default()
        });
        assert!(
            methods(&Environment { user_agent, identity, ..Environment::default() }).is_empty()
        );
    }

    #[test]
    fn a_place_is_told_to_pages_alone() {
        let geolocation = Some(Geolocation { latitude: 1.0, longitude: 2.0, accuracy: 3.0 });
        let [place] = &prelude(&Environment { geolocation, ..Environment::default() })[..] else {
            panic!("expected one call");
        };
        assert!(place.is_for(TargetKind::Page) && !place.is_for(TargetKind::Frame));
    }

    #[test]
    fn an_identity_is_told_everywhere() {
        let agent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                     (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";
        let identity = Identity {
            hardware_concurrency: Some(10),
            max_touch_points: Some(5),
            ..Identity::of_user_agent(agent).unwrap()
        };
        let (user_agent, identity) = (Some(agent.to_owned()), Some(identity));
        let calls = prelude(&Environment { user_agent, identity, ..Environment::default() });
        let hints = &calls[0];
        assert_eq!(hints.params["userAgentMetadata"]["platform"], "macOS");
        assert!(EVERYWHERE.iter().all(|kind| hints.is_for(*kind)));
        let of = |kind| -> Vec<&str> {
            let all = calls.iter().filter(|call| call.is_for(kind));
            all.map(|call| call.method.split('.').nth(1).unwrap()).collect()
        };
        let hints = "setUserAgentOverride";
        let in_documents = [hints, "enable", "addScriptToEvaluateOnNewDocument"];
        assert_eq!(of(TargetKind::Frame), in_documents);
        assert_eq!(of(TargetKind::Worker), [hints, "evaluate"]);
    }
}
