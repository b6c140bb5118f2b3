// Cookies. Those that scripts may see are compared with all that scripts are told of them; of the
// others the site tells which it was sent.
const sentTo = async (path) => (await (await fetch(path, { cache: "no-store" })).text()).split("; ");

const sent = (text, path = "/cookies") => ({
  fill: () => fetch("/set"),
  check: async () => (await sentTo(path)).includes(text),
});

const seen = (name, value, attributes, wanted) => ({
  fill: async () => {
    document.cookie = `${name}=${value}${attributes}`;
  },
  check: async () => {
    const all = await cookieStore.getAll(name);
    const cookie = all.length === 1 ? all[0] : {};
    return cookie.value === value && Object.entries(wanted).every(([field, is]) => is(cookie[field]));
  },
});

const lasts = { expires: (at) => at > Date.now() };
const ends = { expires: (at) => at === null || at === undefined };
const sameSite = (value) => ({ ...lasts, sameSite: (found) => found === value });

const cookies = {
  "cookie: persistent": seen("persistent", "p", `; expires=${later}`, lasts),
  "cookie: until the browser ends": seen("session", "s", "", ends),
  "cookie: quoted value": seen("quoted", '"a b"', `; expires=${later}`, lasts),
  "cookie: empty value": seen("empty", "", `; expires=${later}`, lasts),
  "cookie: SameSite=Lax": seen("lax", "l", `; expires=${later}; SameSite=Lax`, sameSite("lax")),
  "cookie: SameSite=None": seen("none", "n", `; expires=${later}; SameSite=None; Secure`, sameSite("none")),
  "cookie: SameSite=Strict, HttpOnly": sent("strict=t"),
  "cookie: HttpOnly until the browser ends": sent("http_session=h"),
  "cookie: __Host-": sent("__Host-token=k"),
  "cookie: for a path": sent("path=f", "/scoped/cookies"),
};
