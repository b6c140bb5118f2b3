//! Houses for stories: with the program that is being tested, and with their node running.

use baton_playground::House;

/// An empty house.
pub(crate) fn build() -> House {
    House::build(env!("CARGO_BIN_EXE_baton")).unwrap()
}

/// The house with its node running.
pub(crate) async fn start(mut house: House) -> House {
    house.start_node().await.unwrap();
    house
}

/// A house with its node running, and all settings as usual.
pub(crate) async fn house() -> House {
    start(build()).await
}
