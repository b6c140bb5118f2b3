//! Another MCP server on a session's browser: real ones, and ones that misbehave.

mod agent_browser;
mod bad;
mod chrome;
mod connections;
mod person;
mod playwright;
mod scene;
mod story;
