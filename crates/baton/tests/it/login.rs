//! A login as a page holds it: what stores it, and what tells how much of it there is.

/// Logs in: a cookie that ends with the browser, one that lasts, and storage of every kind. `token` is
/// what a script says between quotes.
pub(crate) fn log_in(token: &str) -> String {
    LOG_IN.replace("TOKEN", token)
}

const LOG_IN: &str = "(async () => {
    document.cookie = 'sid=ada';
    document.cookie = 'theme=dark; max-age=86400';
    localStorage.setItem('token', 'TOKEN');
    sessionStorage.setItem('step', '2');
    const open = indexedDB.open('app', 3);
    open.onupgradeneeded = () => open.result.createObjectStore('s', { autoIncrement: true });
    await new Promise((done) => open.onsuccess = done);
    const write = open.result.transaction('s', 'readwrite');
    write.objectStore('s').add({ when: new Date(5), all: new Map([[1, 'one']]) });
    await new Promise((done) => write.oncomplete = done);
    open.result.close();
    return true;
})()";

/// What a page has of all that: cookies, token, step, the database's version and what is in it.
pub(crate) const SHOWN: &str = "(async () => {
    const open = indexedDB.open('app');
    await new Promise((done) => open.onsuccess = done);
    const names = [...open.result.objectStoreNames];
    const read = names.length ? open.result.transaction('s').objectStore('s').get(1) : null;
    if (read) await new Promise((done) => read.onsuccess = done);
    open.result.close();
    const found = read?.result;
    return [document.cookie.split('; ').sort().join(','),
        JSON.stringify(localStorage.getItem('token')), sessionStorage.getItem('step'),
        open.result.version, found?.when.getTime(), found?.all.get(1)].join(' | ');
})()";
