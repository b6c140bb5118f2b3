//! Files that real tools have a session's browser upload and download: it works, or they are told what to
//! do.

use super::{LIMIT, Scene};
use baton_playground::tools::{Npm, Python, Room};

/// A page with a place for a file, and a file to get.
const PAGE: &str = "data:text/html,<title>none</title><input type=file id=i \
    onchange=\"i.files[0].text().then(t => document.title = 'got ' + t.length)\">\
    <a id=d download=a.txt href=data:text/plain,hello>Get</a>";

/// Writes a script into the room and runs it with this program.
async fn run(scene: &Scene, room: &Room, name: &str, script: &str, command: &str) -> String {
    std::fs::write(room.path().join(name), script).unwrap();
    room.run(scene.shell(room, command), LIMIT).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_names_files_of_the_session_or_none() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let script = format!(
        r#"
        import {{ chromium }} from "playwright-core";
        import {{ writeFileSync }} from "node:fs";
        writeFileSync("small", "x".repeat(1000));
        writeFileSync("large", Buffer.alloc(60 << 20, "y"));
        for (const isLocal of [false, true]) {{
            const browser = await chromium.connectOverCDP(process.env.CDP_URL, {{ isLocal }});
            const page = await browser.contexts()[0].newPage();
            for (const file of ["small", "large", process.env.OWN]) {{
                await page.goto(`{PAGE}`);
                try {{
                    await page.setInputFiles("input", file, {{ timeout: 3000 }});
                    await page.waitForFunction(() => document.title !== "none");
                    console.log(isLocal, await page.title());
                }} catch (error) {{
                    console.log(isLocal, String(error).split("\n")[0]);
                }}
            }}
            await page.close();
            await browser.close();
        }}
        "#
    );
    let command = "head -c 62914560 /dev/zero > own && \
        OWN=\"$(baton sessions files put shop own)\" && rm own && \
        OWN=\"$OWN\" CDP_URL=\"$(baton sessions cdp shop --reusable)\" node names.mjs";
    let said = run(&scene, &room, "names.mjs", &script, command).await;
    insta::assert_snapshot!(said, @"
    false got 1000
    false Error: page.setInputFiles: Cannot transfer files larger than 50Mb to a browser not co-located with the server
    false Error: page.setInputFiles: Cannot transfer files larger than 50Mb to a browser not co-located with the server
    true TimeoutError: page.setInputFiles: Timeout 3000ms exceeded.
    true TimeoutError: page.setInputFiles: Timeout 3000ms exceeded.
    true got 62914560
    ");
    let log = std::fs::read_to_string(scene.test_node.data().keeper_log(scene.id)).unwrap();
    assert!(log.contains("baton sessions files put"), "{log}");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn puppeteer_is_told_and_uploads_what_the_session_has() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let script = format!(
        r##"
        import puppeteer from "puppeteer-core";
        import {{ writeFileSync }} from "node:fs";
        writeFileSync("small", "x".repeat(1000));
        const browser = await puppeteer.connect({{ browserWSEndpoint: process.env.CDP_URL }});
        const page = await browser.newPage();
        for (const file of ["small", process.env.OWN]) {{
            await page.goto(`{PAGE}`);
            const input = await page.$("input");
            try {{
                await input.uploadFile(file);
                await page.waitForFunction(() => document.title !== "none");
                console.log(await page.title());
            }} catch (error) {{
                console.log(String(error).replaceAll(process.cwd(), "HERE"));
            }}
        }}
        const session = await page.createCDPSession();
        await session.send("Browser.setDownloadBehavior", {{ behavior: "allow", downloadPath: process.cwd() }});
        await page.click("#d");
        await page.close();
        await browser.disconnect();
        "##
    );
    let command = "echo 12345 > own && OWN=\"$(baton sessions files put shop own)\" && \
        OWN=\"$OWN\" CDP_URL=\"$(baton sessions cdp shop --reusable)\" node puppeteer.mjs && \
        until baton sessions files get shop a.txt -o got 2>/dev/null; do :; done && cat got";
    let said = run(&scene, &room, "puppeteer.mjs", &script, command).await;
    let said = said.replace(&scene.id.to_string(), "ID");
    insta::assert_snapshot!(said, @r"
    ProtocolError: Protocol error (DOM.setFileInputFiles): expected a file that the browser of session ID may read, found HERE/small: `baton sessions files put ID HERE/small` takes it there and says by which path
    got 6
    wrote got
    hello
    ");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_browser_is_told_and_uploads_what_the_session_has() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(npm.room().unwrap());
    let page = "document.body.innerHTML = '<input type=file id=i><a id=d download=a.txt \
        href=data:text/plain,hello>Get</a>'; i.onchange = () => i.files[0].text().then(t => \
        document.title = 'got ' + t.length)";
    std::fs::write(room.path().join("page.js"), page).unwrap();
    let command = "export AGENT_BROWSER_CDP=\"$(baton sessions cdp shop --reusable)\"; \
         echo 12345 > own; OWN=\"$(baton sessions files put shop own)\"; \
         agent-browser eval \"$(cat page.js)\" > /dev/null; \
         agent-browser upload '#i' \"$PWD/own\" 2>&1 | sed \"s|$PWD|HERE|g\"; \
         agent-browser upload '#i' \"$OWN\" > /dev/null; \
         agent-browser wait --fn \"document.title == 'got 6'\" > /dev/null; \
         agent-browser click '#d' > /dev/null; \
         until baton --quiet sessions files get shop a.txt -o got 2> /dev/null; do :; done; cat got; \
         agent-browser close > /dev/null";
    let said = room.run(scene.shell(&room, command), LIMIT).await.unwrap();
    let said = said.replace(&scene.id.to_string(), "ID");
    insta::assert_snapshot!(said, @r"
    ✗ CDP error (DOM.setFileInputFiles): expected a file that the browser of session ID may read, found HERE/own: `baton sessions files put ID HERE/own` takes it there and says by which path
    wrote got
    hello
    ");
    room.clear().await.unwrap();
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browser_use_is_told_and_uploads_and_downloads_what_the_session_has() {
    let python = Python::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.furnish(python.room().unwrap());
    // What its agent does, without a model that says so. Its log is on the standard output, too.
    let script = r#"
import asyncio, os, re, sys, traceback
os.environ["ANONYMIZED_TELEMETRY"] = "false"
from browser_use import BrowserSession
from browser_use.filesystem.file_system import FileSystem
from browser_use.tools.service import Tools

PLACES = """document.body.innerHTML =
        '<input type=file id=i><a id=d download=a.txt href=data:text/plain,hello>Get</a>';
    window.got = new Promise(done => i.onchange = () => i.files[0].text().then(t => done("got " + t.length)));
    0"""

def say(text):
    with open("said", "a") as said:
        print(re.sub(r"index \d+", "index N", text).replace(os.getcwd(), "HERE"), file=said)

async def main():
    session = BrowserSession(cdp_url=os.environ["CDP_URL"])
    await session.start()
    await session.navigate_to(os.environ["SITE"])
    cdp = await session.get_or_create_cdp_session()
    async def evaluate(expression):
        params = {"expression": expression, "awaitPromise": True}
        answer = await cdp.cdp_client.send.Runtime.evaluate(params=params, session_id=cdp.session_id)
        return answer["result"].get("value")
    await evaluate(PLACES)
    tools = Tools()
    async def act(action, name, **params):
        await session.get_browser_state_summary()
        seen = await session.get_selector_map()
        index = next(at for at, node in seen.items() if node.attributes.get("id") == name)
        done = await action(index=index, **params, browser_session=session,
                            available_file_paths=[], file_system=FileSystem("."))
        say(done.error or done.extracted_content)
    for path in [os.path.abspath("own"), os.environ["OWN"]]:
        await act(tools.upload_file, "i", path=path)
    say(await evaluate("got"))
    await act(tools.click, "d")
    say(str(session.downloaded_files))
    await session.stop()

async def end():
    try:
        await asyncio.wait_for(main(), 60)
    except BaseException:
        traceback.print_exc()
        sys.stdout.flush()
        # Its handlers hold on to a loop in which something failed.
        os._exit(1)

asyncio.run(end())
"#;
    let command = "echo 12345 > own; OWN=\"$(baton sessions files put shop own)\"; \
        export OWN SITE=\"$ADDRESS\" CDP_URL=\"$(baton sessions cdp shop --reusable)\"; \
        python files.py > log 2>&1 || cat log; cat said; \
        baton sessions files get shop a.txt -o got && cat got";
    let command = command.replace("$ADDRESS", &scene.address());
    let said = run(&scene, &room, "files.py", script, &command).await;
    let files = scene.test_node.data().files_of(scene.id);
    let said = said.replace(&*files.to_string_lossy(), "FILES");
    let said = said.replace(&scene.id.to_string(), "ID");
    insta::assert_snapshot!(said, @r#"
    Error executing action upload_file: Failed to upload file: {'code': -32000, 'message': 'expected a file that the browser of session ID may read, found HERE/own: `baton sessions files put ID HERE/own` takes it there and says by which path'}
    Successfully uploaded file to index N
    got 6
    Clicked a "Get" id=d
    ['FILES/a.txt']
    wrote got
    hello
    "#);
    room.clear().await.unwrap();
    scene.test_node.clear().await.unwrap();
}
