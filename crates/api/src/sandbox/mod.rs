//! Sandboxes: isolated workspaces in which agents run, with a session handed in.
//!
//! The names are those of the specification of session injection, in camel case. Rooms: [`create`] says
//! what a sandbox shall be, [`view`] what it is and what became of its session, [`exec`] what runs in it.

pub mod create;
pub mod exec;
pub mod view;

pub use create::{BrowserSession, BrowserSessionType, CreateSandbox, TakeBack, WantedLimits};
pub use exec::{CommandLine, ExecEnd, ExecEvent, ExecSandbox, SandboxFile};
pub use view::{
    EndedSandbox, Enforcement, HandedIn, Login, SandboxList, SandboxView, Vnc, WrittenBack,
    WrittenLimits,
};
