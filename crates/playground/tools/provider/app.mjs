// A small app without passwords: who comes to it is asked for at a provider of OpenID Connect, and is signed in as long
// as that knows them. Each visit counts once: the next page asks the provider again, without a word to anybody.
//
// Its pages say in their title and in `#who` who is signed in, and have what `notes.js` has.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const random = () => randomBytes(32).toString("base64url");
const cookieOf = (request, name) =>
  (request.headers.cookie ?? "").split("; ").map((pair) => pair.split("=")).find(([found]) => found === name)?.[1];
const notes = readFileSync(new URL("notes.js", import.meta.url), "utf8");
const page = (who, more) =>
  `<!doctype html><meta charset=utf-8><title>${who}</title><link rel=icon href="data:,">
<p id=who>${who}</p>${more}<script>${notes}</script>`;

/** Starts it at a free port; `begin` says where its provider is. */
export async function startApp() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const back = new URL("/back", url).href;
  return { url, back, begin: (issuer) => server.on("request", answers(issuer, back)) };
}

/** What it answers to requests. */
function answers(issuer, back) {
  // Who was sent to the provider and is not back yet, and who is, each by a secret of their browser.
  const [asked, visits] = [new Map(), new Map()];

  /** The way to the provider, who asks the person nothing where that was not `asks`. */
  const away = (asks) => {
    const [state, verifier, nonce] = [random(), random(), random()];
    asked.set(state, { verifier, nonce });
    const query = new URLSearchParams({
      client_id: "app",
      response_type: "code",
      scope: "openid",
      redirect_uri: back,
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...(asks ? {} : { prompt: "none" }),
    });
    const cookie = `state=${state}; HttpOnly; SameSite=Lax; Path=/; Max-Age=600`;
    return [303, { location: `${issuer}/auth?${query}`, "set-cookie": cookie }, ""];
  };

  /** Whom the provider's answer names; the provider itself is asked, who gives it for the code. */
  const whom = async (query, state) => {
    const { verifier, nonce } = asked.get(state);
    asked.delete(state);
    const answer = await fetch(`${issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "app",
        client_secret: "app-secret",
        code: query.get("code"),
        redirect_uri: back,
        code_verifier: verifier,
      }),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error_description);
    const said = JSON.parse(Buffer.from(told.id_token.split(".")[1], "base64url").toString());
    if (said.iss !== issuer || said.aud !== "app" || said.nonce !== nonce) throw new Error("another's token");
    return said.sub;
  };

  const to = async (request) => {
    const { pathname, searchParams: query } = new URL(request.url, back);
    const visit = cookieOf(request, "visit");
    if (pathname === "/" && visits.has(visit)) {
      const who = visits.get(visit);
      visits.delete(visit);
      return [200, {}, page(who, "")];
    }
    if (pathname === "/") return away(false);
    if (pathname === "/in") return away(true);
    if (pathname === "/nobody") return [200, {}, page("nobody", "<a id=in href=/in>Sign in</a>")];
    const state = cookieOf(request, "state");
    if (pathname !== "/back" || query.get("state") !== state || !asked.has(state)) return [404, {}, ""];
    if (query.has("error")) return [303, { location: "/nobody" }, ""];
    const secret = random();
    visits.set(secret, await whom(query, state));
    const cookie = `visit=${secret}; HttpOnly; SameSite=Lax; Path=/; Max-Age=86400`;
    return [303, { location: "/", "set-cookie": cookie }, ""];
  };

  return async (request, response) => {
    const failed = (error) => [500, {}, String(error)];
    const [status, headers, body] = await to(request).catch(failed);
    response.writeHead(status, { "content-type": "text/html", "cache-control": "no-store", ...headers }).end(body);
  };
}
