//! What other programs read of this repository (a compose file, manifests of Kubernetes, workflows) is what their
//! schemas say.

use baton_playground::tools::{Npm, Python, Room};
use std::path::Path;
use std::time::Duration;

/// How long a check may take.
const LIMIT: Duration = Duration::from_mins(2);
/// The repository.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks a compose file by the specification's schema; says what does not hold.
async fn compose(room: &Room, file: &Path) -> Result<String, String> {
    let mut check = room.command("check-jsonschema").unwrap();
    check.args(["--builtin-schema", "vendor.compose-spec"]).arg(file);
    room.run(check, LIMIT).await.map_err(|error| error.to_string())
}

/// Checks manifests by the schemas of Kubernetes, which then take no property that they do not know.
async fn kubernetes(room: &Room, file: &Path) -> Result<String, String> {
    let mut check = room.command("kubernetes-validate").unwrap();
    check.args(["--strict", "--quiet"]).arg(file);
    room.run(check, LIMIT).await.map_err(|error| error.to_string())
}

/// A copy of a file in which one word is another.
fn spoilt(room: &Room, file: &Path, word: &str, other: &str) -> std::path::PathBuf {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(word), "expected {word} in {}", file.display());
    let copy = room.path().join(file.file_name().unwrap());
    std::fs::write(&copy, text.replacen(word, other, 1)).unwrap();
    copy
}

#[tokio::test]
async fn the_compose_file_and_the_manifests_are_what_their_schemas_say() {
    let room = Python::install().await.unwrap().room().unwrap();
    for name in ["compose.yaml", "deploy/cluster/compose.yaml"] {
        let file = Path::new(CHECKOUT).join(name);
        compose(&room, &file).await.unwrap();
        compose(&room, &spoilt(&room, &file, "volumes:", "volume:")).await.unwrap_err();
    }
    let folder = Path::new(CHECKOUT).join("deploy/kubernetes");
    for name in ["statefulset.yaml", "service.yaml", "networkpolicy.yaml"] {
        let file = folder.join(name);
        kubernetes(&room, &file).await.unwrap();
        kubernetes(&room, &spoilt(&room, &file, "elector:", "elects:")).await.unwrap_err();
    }
    // What is applied together is all that there is.
    let listed = std::fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "kustomization.yaml" || listed.contains(&name), "{name} is not listed");
    }
    room.clear().await.unwrap();
}

/// A file of the repository.
fn text_of(name: &str) -> String {
    std::fs::read_to_string(Path::new(CHECKOUT).join(name)).unwrap()
}

#[test]
fn the_image_has_its_health_check_in_every_engine_and_the_package_of_its_processor() {
    let image = text_of("Containerfile");
    // A default would stand where a builder says another processor.
    let default = image.lines().find(|line| line.starts_with("ARG TARGET") && line.contains('='));
    assert_eq!(default, None);
    let check = image.split_once("\nHEALTHCHECK ").unwrap().1.split_once(" CMD ").unwrap().1;
    let check = check.replace("\\\n", "");
    let words = serde_json::Deserializer::from_str(&check).into_iter::<Vec<String>>().next();
    let words = words.unwrap().unwrap();
    let script = serde_json::to_string(words.last().unwrap()).unwrap();
    let compose = text_of("compose.yaml");
    assert!(compose.contains(&format!("test: [\"CMD\", \"bash\", \"-c\", {script}]")), "{script}");
    // Podman's own format of images has no health check.
    for name in ["Containerfile", "docs/guide/container.md"] {
        let text = text_of(name);
        let builds: Vec<_> = text.lines().filter(|line| line.contains("podman build ")).collect();
        assert!(!builds.is_empty(), "{name}");
        assert!(builds.iter().all(|line| line.contains(" --format docker ")), "{name}: {builds:?}");
    }
}

#[tokio::test]
async fn the_workflows_are_what_their_schema_and_their_linter_say() {
    let folder = Path::new(CHECKOUT).join(".github/workflows");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let room = Python::install().await.unwrap().room().unwrap();
    let mut check = room.command("check-jsonschema").unwrap();
    check.args(["--builtin-schema", "vendor.github-workflows"]).args(&files);
    room.run(check, LIMIT).await.unwrap();
    room.clear().await.unwrap();

    let room = Npm::install().await.unwrap().room().unwrap();
    std::fs::write(room.path().join("workflows.mjs"), include_str!("manifests/workflows.mjs"))
        .unwrap();
    let spoilt = spoilt(&room, &files[0], "runs-on: ubuntu-24.04", "runs-on: ${{ matrix.none }}");
    let lint = async |files: &[std::path::PathBuf]| {
        let mut lint = room.command("node").unwrap();
        lint.arg("workflows.mjs").args(files);
        room.run(lint, LIMIT).await.unwrap()
    };
    assert_eq!(lint(&files).await, "");
    let told = lint(&[spoilt]).await;
    assert!(told.contains("property \"none\" is not defined"), "{told}");
    room.clear().await.unwrap();
}
