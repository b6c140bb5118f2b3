//! The first process of the sandboxes that the tests of this crate make.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    {
        let words: Vec<String> = std::env::args().skip(1).collect();
        if let Err(error) = baton_sandbox::init::run(&words) {
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{error}\n"));
            return std::process::ExitCode::FAILURE;
        }
    }
    std::process::ExitCode::SUCCESS
}
