Object.assign(kinds, cookies, {
  "localStorage: plain": local("plain", "value"),
  "localStorage: empty key": local("", "empty"),
  "localStorage: other scripts": local("żółć", "日本 🎼"),
  "localStorage: NUL": local("nul \0", "a\0b"),
  "localStorage: lone surrogate": local("lone \ud83d", "\udc00"),
  "sessionStorage": session("tab", "first"),
}, values, shape, { "cache": cached, "file (OPFS)": filed, "service worker": worker });
