# browser-use: what its storage_state and a profile keep, and how long a large state takes.
# The job and the answer are those of job.mjs.
import asyncio, json, os, sys, time

# It tells nobody of its use, and asks nobody for a newer version.
for name in ["ANONYMIZED_TELEMETRY", "BROWSER_USE_CLOUD_SYNC", "BROWSER_USE_VERSION_CHECK", "BROWSER_USE_SETUP_LOGGING"]:
    os.environ[name] = "false"

import psutil
from browser_use import BrowserSession
from browser_use.browser.events import SaveStorageStateEvent

job = json.loads(sys.argv[1])
FILE = f"{job['folder']}/state.json"
PROFILE = f"{job['folder']}/profile"


async def start(**options):
    session = BrowserSession(
        executable_path=job["chromium"], headless=True, chromium_sandbox=False,
        # Its extensions would be fetched from the network.
        enable_default_extensions=False, **options,
    )
    await session.start()
    return session


async def evaluate(session, script):
    page = await session.must_get_current_page()
    return await page.evaluate(f"() => {script}")


# A lone surrogate in localStorage makes it fail to save anything: such items are left out.
WELL_FORMED = """Object.entries(localStorage).filter((item) => !item.every((text) => text.isWellFormed()))
  .forEach(([name]) => localStorage.removeItem(name))"""


# Chromium takes a `Secure` cookie that http set on localhost only as if https had set it, and refuses all
# others with it: on a site with https there are none of these.
def as_if_by_https():
    with open(FILE, encoding="utf-8") as file:
        state = json.load(file)
    for cookie in state["cookies"]:
        if cookie["secure"]:
            cookie["sourceScheme"] = "Secure"
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(state, file)


async def fill(session, save):
    # The passkey's tab comes first: what a later one holds takes the place of what an earlier one of its site did.
    for url in [job["passkey"], *job["fill"]]:
        await session.navigate_to(url, new_tab=True)
        await evaluate(session, "fill()")
        if save:
            # What it saves is of the tab in front: it is asked in each, and joins them.
            await evaluate(session, WELL_FORMED)
            await session.event_bus.dispatch(SaveStorageStateEvent())
    await session.navigate_to(job["tabs"][2])


# It opens no tabs by itself: they are opened where they were, and counted as lost. What it restores from a
# state is in its first tab alone: then all of them are looked at there.
async def check(session, new_tab):
    tabs = [tab.url for tab in await session.get_tabs()]
    kept = {"tabs, in order": tabs == job["tabs"]}
    for url in [*job["fill"], job["passkey"]]:
        await session.navigate_to(url, new_tab=new_tab)
        kept |= json.loads(await evaluate(session, "check()"))
    await session.kill()
    return kept


async def keep_state():
    session = await start(storage_state=FILE)
    await fill(session, save=True)
    await session.kill()
    as_if_by_https()
    return await check(await start(storage_state=FILE), new_tab=False)


async def keep_profile(end):
    session = await start(user_data_dir=PROFILE)
    await fill(session, save=False)
    await end(session)
    return await check(await start(user_data_dir=PROFILE), new_tab=True)


# `kill()` ends the browser with a signal. This lets it write down what it holds first.
async def close(session):
    await session.cdp_client.send.Browser.close()
    await until_nobody_holds_it()
    await session.kill()


async def until_nobody_holds_it():
    end = time.monotonic() + 30
    while any(PROFILE in " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])):
        if time.monotonic() > end:
            raise RuntimeError("expected nobody to hold the profile")
        await asyncio.sleep(0.02)


async def restore(**options):
    begin = time.perf_counter()
    session = await start(**options)
    await session.navigate_to(job["page"])
    items = await evaluate(session, "localStorage.length")
    took = (time.perf_counter() - begin) * 1e3
    if items != "20":
        raise RuntimeError(f"expected a page with 20 items, found {items}")
    await session.kill()
    return took


async def restore_profile():
    session = await start(user_data_dir=PROFILE)
    for url in job["origins"]:
        await session.navigate_to(url)
    await close(session)
    return await restore(user_data_dir=PROFILE)


WAYS = {
    "keep": {
        "storage_state, kill()": keep_state,
        "user_data_dir, kill()": lambda: keep_profile(lambda session: session.kill()),
        "user_data_dir, Browser.close()": lambda: keep_profile(close),
    },
    "restore": {
        "storage_state": lambda: restore(storage_state=job["state"]),
        "user_data_dir": restore_profile,
    },
}

print("\n" + json.dumps(asyncio.run(WAYS[job["task"]][job["way"]]())))
