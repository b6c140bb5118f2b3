//! People who come to the page of a node from a provider of `OpenID` Connect.

mod elsewhere;
mod forged;
mod person;
mod standin;
