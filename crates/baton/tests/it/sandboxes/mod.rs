//! Sandboxes as their users have them: sessions handed in, and written back.

mod agent;
mod escapes;
mod leaks;
mod refusals;
mod scene;
mod services;
mod tasks;
