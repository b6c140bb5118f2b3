// An OpenID Connect provider on loopback: oidc-provider, as Entra ID would be configured for nodes, with a form at which
// people sign in.
//
// What it is told comes as JSON in PROVIDER; where it listens is the first line on stdout; each request
// is a line after that. A client `name` has the secret `name-secret`. `lifetime` is how many seconds a
// token counts, and `said` how many the client is told that it does. People come by the client `page`, who may be sent
// `back` to these addresses; `people` says what is known of them by the name that they type, and `claims` where it
// stands: in the `id_token`, or at the endpoint `userinfo`. With `app` there is an app (`app.mjs`) whose people come this
// way, too; where it is stands in the file `app.url`.
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Provider, errors } from "oidc-provider";

// Its own words are none of the requests that stand on stdout.
console.info = console.warn = console.error
const told = JSON.parse(process.env.PROVIDER);
const signs = told.algorithm === "ES256" ? ["ec", { namedCurve: "P-256" }] : ["rsa", { modulusLength: 2048 }];
const file = `${told.key}.jwk`;
if (!existsSync(file)) {
  writeFileSync(file, JSON.stringify(generateKeyPairSync(...signs).privateKey.export({ format: "jwk" })));
}
const key = JSON.parse(readFileSync(file, "utf8"));
const keys = [{ ...key, kid: told.key, use: "sig", alg: told.algorithm }];

const server = createServer();
await new Promise((ready) => server.listen(told.port, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

const app = told.app ? await (await import("./app.mjs")).startApp() : undefined;
const client = (name, more) => ({
  client_id: name,
  client_secret: `${name}-secret`,
  token_endpoint_auth_method: told.proof,
  id_token_signed_response_alg: told.algorithm,
  ...more,
});
const nodes = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
const people = (back) => ({ grant_types: ["authorization_code"], redirect_uris: back, response_types: ["code"] });
const clients = told.clients.map((name) => client(name, nodes));
if (told.back.length > 0) clients.push(client("page", people(told.back)));
if (app) clients.push(client("app", people([app.back])));

const provider = new Provider(issuer, {
  jwks: { keys },
  clients,
  scopes: ["Sessions.Sync"],
  claims: { email: ["email", "email_verified"], profile: ["name", "groups"] },
  conformIdTokenClaims: told.claims !== "id_token",
  pkce: { required: () => true },
  cookies: { keys: ["only for tests"] },
  findAccount: (_, id) => told.people[id] && { accountId: id, claims: () => ({ sub: id, ...told.people[id] }) },
  features: {
    devInteractions: { enabled: clients.length > told.clients.length },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_, resource) {
        if (!resource.startsWith("urn:")) throw new errors.InvalidTarget();
        return {
          scope: "Sessions.Sync",
          audience: resource,
          accessTokenTTL: told.said,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: told.algorithm } },
        };
      },
    },
  },
  // Entra ID names the tenant, the client and its roles so.
  extraTokenClaims: (_, token) => ({ tid: told.tenant, azp: token.clientId, roles: told.roles }),
  formats: {
    customizers: {
      jwt(_, token, jwt) {
        jwt.payload.exp = jwt.payload.iat + told.lifetime;
      },
    },
  },
});

// Its forms want letters of another host: no request leaves this machine.
provider.use(async (context, next) => {
  await next();
  if (typeof context.body === "string") context.body = context.body.replace(/@import url\(https:[^)]*\);/, "");
});
const answer = provider.callback();
server.on("request", (request, response) => {
  console.log(`${request.method} ${request.url}`);
  answer(request, response);
});
app?.begin(issuer);
if (app) writeFileSync("app.url", app.url);
console.log(issuer);
