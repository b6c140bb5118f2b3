//! Nodes let each other in by the tokens of a provider: two real nodes, and a real provider between
//! them.

mod forged;
mod life;
mod msal;
mod refused;
mod story;
mod tunnel;
