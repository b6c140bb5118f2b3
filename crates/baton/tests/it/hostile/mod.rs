//! What attackers do, with the real program: who drives a browser and wants the machine.

mod drive;
mod files;
mod folders;
mod machine;
mod older;
mod pdf;
mod tries;
mod unconfined;
mod ways;
