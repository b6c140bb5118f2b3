// What is hidden, and what stays around it: the same cases as the node's, through WebAssembly.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { NetworkEvent, TabEvent } from '../../src/protocol.ts'
import { clean, cleanAddress } from '../../src/secrets/clean.ts'
import { readNames } from '../../src/secrets/names.ts'
import { HIDDEN, Redactor, hideBy } from '../../src/secrets/redactor.ts'

/** One that has seen nothing: what one case shows to be a secret is none in the next. */
const fresh = () => new Redactor()

test('names of secrets are told from names about them', () => {
  const secret = ["password",
        "userPassword",
        "new_password",
        "X-Api-Key",
        "apikey",
        "access_token",
        "accessToken",
        "Authorization",
        "PHPSESSID",
        "JSESSIONID",
        "connect.sid",
        "sessionId",
        "client_secret",
        "csrf-token",
        "XSRF-TOKEN",
        "x-amz-security-token",
        "jwt",
        "otp",
        "credentials",
        "auth",
        "private_key",
        "SAMLResponse",
        "cardNumber",
        "cvv",
        "refresh_token",
        "id_token",
        "api.secret",
        "user[password]",
        "sig",
        "X-Amz-Signature",
        "tokens",]
  for (const name of secret) assert.ok(isSecret(name), name)
  const other = ["",
        "name",
        "author",
        "authority",
        "passenger",
        "tokenizer",
        "token_type",
        "tokenType",
        "max_tokens",
        "total_tokens",
        "password_length",
        "passwordHint",
        "expires_in",
        "token_endpoint",
        "design",
        "signal",
        "keyboard",
        "monkey",
        "compass",
        "cookie_policy",
        "x-request-id",
        "etag",
        "content-type",
        "state",
        "code",
        "key",
        "page",
        "TokenError",]
  for (const name of other) assert.ok(!isSecret(name), name)
  assert.equal(fresh().address('/?code=abc&STATE=abc'), '/?code=[redacted]&STATE=[redacted]')
})

/** Whether what stands under this name is hidden, whatever it is. */
function isSecret(name: string): boolean {
  return fresh().body(JSON.stringify({ [name]: 'abc' }), 'application/json').includes(HIDDEN)
}

test('long random texts are told from words', () => {
  for (const random of ["dGhpcyBpcyBub3QgYSBzZWNyZXQ0Mg",
        "k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG",
        "9f86d081884c7d659a2feaa0c55ad015",
        "a7x2m9k4q8w3e6r1t5y0",
        "Zx9-Kp2_Lm5-Qr8_Tv1-Wy4",]) assert.ok(isRandom(random), random)
  for (const plain of ["",
        "hello",
        "how-to-build-a-website-in-2026",
        "application/x-www-form-urlencoded",
        "550e8400-e29b-41d4-a716-446655440000",
        "20261122203051123",
        "/assets/main.3f2a9c8b7d6e.js",
        "main.3f2a9c8b7d6e5f4a9c.js",
        "getUserAccountInformation",
        "1.2.3-beta.4",
        "2026-11-22T20:30:51",]) assert.ok(!isRandom(plain), plain)
})

/** Whether a value is hidden whatever its name is. */
function isRandom(value: string): boolean {
  return fresh().line(`x=${value}`).includes(HIDDEN)
}

test('addresses keep their shape', () => {
  const shown = [
        "https://a.test/items?page=2&sort=new&token=abc123",
        "https://ada:pw@a.test/in?next=%2Fhome%3Fcode%3D1&code=4711&state=&flag",
        "https://a.test/cb#access_token=abc&expires_in=3600&token_type=bearer",
        "https://a.test/#/reset?token=abc",
        "https://a.test/#section-2",
        "https://a.test/s3?X-Amz-Signature=abc&X-Amz-Expires=900&X-Amz-Credential=AKIA",
        "https://a.test/s?v=k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG",
        "https://a.test/reset-token/k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG/x",
        "https://a.test/p;jsessionid=ABC123?x=1",
        "https://a.test/u/507f1f77bcf86cd799439011",
        "https://a.test/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "data:text/html,<b>secret</b>",
        "blob:https://a.test/550e8400-e29b-41d4-a716-446655440000",
        "",
  ]
  const expected = [
    "https://a.test/items?page=2&sort=new&token=[redacted]",
    "https://[redacted]@a.test/in?next=%2Fhome%3Fcode%3D[redacted]&code=[redacted]&state=&flag",
    "https://a.test/cb#access_token=[redacted]&expires_in=3600&token_type=bearer",
    "https://a.test/#/reset?token=[redacted]",
    "https://a.test/#section-2",
    "https://a.test/s3?X-Amz-Signature=[redacted]&X-Amz-Expires=900&X-Amz-Credential=[redacted]",
    "https://a.test/s?v=[redacted]",
    "https://a.test/reset-token/[redacted]/x",
    "https://a.test/p;jsessionid=[redacted]?x=1",
    "https://a.test/u/507f1f77bcf86cd799439011",
    "https://a.test/v/[redacted]",
    "data:[redacted]",
    "blob:https://a.test/550e8400-e29b-41d4-a716-446655440000",
    "",
  ]
  const redacted = shown.map((url) => fresh().address(url))
  assert.deepEqual(redacted, expected)
  for (const url of redacted) assert.equal(fresh().address(url), url, 'twice is once')
})

test('headers keep their shape', () => {
  const shown: [string | undefined, string][] = [
        ["Authorization", "Bearer abc.def"],
        ["authorization", "abc"],
        ["Proxy-Authorization", "Basic YWRhOnB3"],
        ["Cookie", "sid=1; theme=dark; empty="],
        ["Set-Cookie", "sid=1; Path=/; HttpOnly\nb=2"],
        ["X-API-Key", "abc"],
        ["X-CSRF-Token", "abc"],
        ["Referer", "https://a.test/in?code=1&page=2"],
        ["Location", "/next?token=abc&x=1"],
        ["Link", "<https://a.test/?token=abc>; rel=next"],
        ["Sec-WebSocket-Protocol", "baton.v1, baton.ticket.k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG"],
        ["WWW-Authenticate", "Bearer realm=\"shop\""],
        ["Content-Type", "application/json; charset=utf-8"],
        ["ETag", "\"9f86d081884c7d659a2feaa0c55ad015\""],
        ["X-Forwarded", "for=1.2.3.4;token=abc"],
  ]
  const expected = [
    "Authorization: Bearer [redacted]",
    "authorization: [redacted]",
    "Proxy-Authorization: Basic [redacted]",
    "Cookie: sid=[redacted]; theme=[redacted]; empty=",
    "Set-Cookie: sid=[redacted]; Path=/; HttpOnly\nb=[redacted]",
    "X-API-Key: [redacted]",
    "X-CSRF-Token: [redacted]",
    "Referer: https://a.test/in?code=[redacted]&page=2",
    "Location: /next?token=[redacted]&x=1",
    "Link: <https://a.test/?token=[redacted]>; rel=next",
    "Sec-WebSocket-Protocol: baton.v1, [redacted]",
    "WWW-Authenticate: Bearer realm=\"shop\"",
    "Content-Type: application/json; charset=utf-8",
    "ETag: \"9f86d081884c7d659a2feaa0c55ad015\"",
    "X-Forwarded: for=1.2.3.4;token=[redacted]",
  ]
  const redacted = shown.map(([name, value]) => `${name}: ${fresh().header(name ?? '', value)}`)
  assert.deepEqual(redacted, expected)
})

test('JSON stays JSON, whole or cut off', () => {
  const shown = [
        "{\"user\": \"ada\", \"password\": \"hunter2\", \"n\": 1.50, \"tokens\": [\"a\", 7, {\"b\": null}]}",
        "{\"a\":{\"credentials\":{\"user\":\"x\",\"deep\":[true,\"y\"]}},\"z\":0}",
        "[{\"name\":\"password\",\"value\":\"x\"},{\"name\":\"city\",\"value\":\"Ulm\"}]",
        "{\"body\":\"{\\\"token\\\":\\\"abc\\\",\\\"n\\\":1}\",\"u\":\"https://a.test/?code=1&api_key=abc\"}",
        "{\"p\\u0061ssword\":\"x\",\"pin\":1234}",
        "{\"a\":1,\"access_token\":\"eyJhbGci",
        "{\"a\":1,\"password\":12",
        "{\"access_token\":\"a\"}{\"access_token\":\"b\"}",
        "{\"usage\":{\"total_tokens\":512},\"token_type\":\"bearer\",\"password\":\"\"}",
        "{]}[\"password\":\"x\"",
        "",
  ]
  const expected = [
    "{\"user\": \"ada\", \"password\": \"[redacted]\", \"n\": 1.50, \"tokens\": [\"[redacted]\", \"[redacted]\", {\"b\": null}]}",
    "{\"a\":{\"credentials\":{\"user\":\"[redacted]\",\"deep\":[true,\"[redacted]\"]}},\"z\":0}",
    "[{\"name\":\"password\",\"value\":\"[redacted]\"},{\"name\":\"city\",\"value\":\"Ulm\"}]",
    "{\"body\":\"{\\\"token\\\":\\\"[redacted]\\\",\\\"n\\\":1}\",\"u\":\"https://a.test/?code=[redacted]&api_key=[redacted]\"}",
    "{\"p\\u0061ssword\":\"[redacted]\",\"pin\":\"[redacted]\"}",
    "{\"a\":1,\"access_token\":\"[redacted]",
    "{\"a\":1,\"password\":\"[redacted]\"",
    "{\"access_token\":\"[redacted]\"}{\"access_token\":\"[redacted]\"}",
    "{\"usage\":{\"total_tokens\":512},\"token_type\":\"bearer\",\"password\":\"\"}",
    "{]}[\"password\":\"[redacted]\"",
    "",
  ]
  const redacted = shown.map((text) => fresh().body(text, 'application/json'))
  assert.deepEqual(redacted, expected)
  for (const [at, after] of redacted.entries()) {
    assert.equal(fresh().body(after, 'application/json'), after, 'twice is once')
    assert.equal(isJson(after), isJson(shown[at] ?? ''), after)
  }
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('forms keep their shape', () => {
  assert.equal(fresh().body('user=ada&password=a%26b&x=&remember=on', 'application/x-www-form-urlencoded'), 'user=ada&password=[redacted]&x=&remember=on')
  const part = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  assert.equal(
    fresh().body(`${part('user', 'ada')}${part('password', 'hunter2')}--b--\r\n`, 'multipart/form-data; boundary=b'),
    `${part('user', 'ada')}${part('password', '[redacted]')}--b--\r\n`,
  )
})

test('texts lose what follows a name', () => {
  const shown = [
        "login as ada, password: hunter2, ok",
        "token=abc&page=2",
        "Authorization: Bearer abc.def then",
        "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln from server",
        "key=k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG done",
        "'api_key' => 'abc', \"secret\": \"a \\\" b\", x: 1",
        "postgres://ada:pw@db.test/shop",
        "<login><password>hunter2</password><user>ada</user></login>",
        "<meta name=\"csrf-token\" content=\"abc\"><input name=password value=hunter2>",
        "document.cookie = sid=1; theme=dark",
        "Uncaught TypeError: Cannot read properties of undefined at https://a.test/app.js:10:5",
        "Bearer authentication is needed; 12:30:45; state: open; code: 404",
        "X-Auth: Token abc def",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- after",
        "password=",
        "passwort: größe = ö",
  ]
  const expected = [
    "login as ada, password: [redacted], ok",
    "token=[redacted]&page=2",
    "Authorization: [redacted]",
    "got [redacted] from server",
    "key=[redacted] done",
    "'api_key' => '[redacted]', \"secret\": \"[redacted]\", x: 1",
    "postgres://[redacted]@db.test/shop",
    "<login><password>[redacted]</password><user>ada</user></login>",
    "<meta name=\"csrf-token\" content=\"[redacted]\"><input name=password value=[redacted]>",
    "document.cookie = [redacted]",
    "Uncaught TypeError: Cannot read properties of undefined at https://a.test/app.js:10:5",
    "Bearer authentication is needed; 12:30:45; state: open; code: 404",
    "X-Auth: [redacted]",
    "[redacted] after",
    "password=",
    "passwort: [redacted] = ö",
  ]
  const redacted = shown.map((text) => fresh().line(text).replaceAll('\n', '|'))
  assert.deepEqual(redacted, expected)
})

test('a body is read as what it is', () => {
  const shown: [string | undefined, string][] = [
        ["application/json", "{\"password\":\"x\"}"],
        [undefined, "{\"password\":\"x\"}"],
        ["application/x-www-form-urlencoded; charset=utf-8", "password=x&a=1"],
        [undefined, "password=x&a=1"],
        ["text/javascript", "var token = load(); const cfg = {apiKey: \"abc\", n: 1}"],
        ["text/event-stream", "event: a\ndata: {\"token\":\"x\"}\n\n"],
        ["text/plain", "{\"password\":\"x\"}"],
        ["application/json", "no json, password: x"],
  ]
  const expected = [
    "{\"password\":\"[redacted]\"}",
    "{\"password\":\"[redacted]\"}",
    "password=[redacted]&a=1",
    "password=[redacted]&a=1",
    "var token = load(); const cfg = {apiKey: \"[redacted]\", n: 1}",
    "event: a|data: {\"token\":\"[redacted]\"}||",
    "{\"password\":\"[redacted]\"}",
    "no json, password: [redacted]",
  ]
  const redacted = shown.map(([mime, text]) => fresh().body(text, mime).replaceAll('\n', '|'))
  assert.deepEqual(redacted, expected)
})

test('base64 is looked into', () => {
  const encoded = (bytes: string | number[]) => Buffer.from(bytes as string).toString('base64')
  const text = encoded('{"password":"größer","n":1}')
  assert.deepEqual(fresh().base64(text, undefined), { body: '{"password":"[redacted]","n":1}', isBase64: false })
  assert.equal(fresh().base64(text.slice(0, -15), undefined).body, '{"password":"[redacted]', 'cut within a character, too')
  const picture = encoded([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe])
  assert.deepEqual(fresh().base64(picture, 'image/png'), { body: picture, isBase64: true })
  assert.deepEqual(fresh().base64(picture, 'application/grpc'), { body: '[redacted]', isBase64: false })
  assert.deepEqual(fresh().base64('no base64!', undefined), { body: '[redacted]', isBase64: false })
})

test('what a header shows to be a secret is hidden in the address and in the body', () => {
  const secret = 'hT5vXq8LmZ2rKd9WpB4n'
  const event: NetworkEvent = {
    type: 'browser_debug_network_event',
    source: 'debugger',
    event: 'request',
    data: {
      request_id: '1',
      timestamp: 1,
      method: 'POST',
      url: `https://a.test/x/${secret}/y`,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/plain' },
      body: `again ${secret} and ada`,
    },
  }
  const redactor = fresh()
  const shown = clean(redactor, event, 1000) as NetworkEvent & { event: 'request' }
  assert.equal(shown.data.url, 'https://a.test/x/[redacted]/y')
  assert.equal(shown.data.body, 'again [redacted] and ada')
  assert.equal(event.data.body, `again ${secret} and ada`, 'what came is left as it is')
  assert.equal(redactor.line(`got ${secret}`), 'got [redacted]', 'the tab remembers it')
  assert.equal(fresh().line(`got ${secret}`), `got ${secret}`, 'and no other tab does')
  redactor.close()
  assert.equal(redactor.line(`got ${secret}`), `got ${secret}`, 'nor what comes after it is closed')
})

test('a password that is longer than an address may be is hidden with it', () => {
  const long = 'correct-horse-'.repeat(2000)
  for (const url of [`https://ada:${long}@a.test/in`, `wss://${long}@a.test/`]) assert.equal(cleanAddress(fresh(), url), HIDDEN)
  assert.ok(cleanAddress(fresh(), `https://a.test/${'shop/'.repeat(10000)}`).startsWith('https://a.test/shop/shop/'))
})

test("names of the node's own are hidden and shown, by each tab from then on", () => {
  const tab = fresh()
  const body = (redactor: Redactor) => redactor.body('{"order_ref":"ada","pin":"eve","page":2}', 'application/json')
  assert.equal(body(tab), '{"order_ref":"ada","pin":"[redacted]","page":2}')
  hideBy(readNames({ names: ['order_ref', 7, 'x'.repeat(129)], allow: ['pin'] }))
  const shown = '{"order_ref":"[redacted]","pin":"eve","page":2}'
  assert.equal(body(tab), shown, 'one that was open before')
  assert.equal(body(fresh()), shown)
  const many = Array.from({ length: 1000 }, (_, at) => `größe_${at}_${'ö'.repeat(50)}`)
  hideBy(readNames({ names: [...many, 'one_more'], allow: many.map((name) => `no_${name}`) }))
  assert.equal(fresh().body(JSON.stringify({ [many[999]!]: 'ada', one_more: 'eve' }), 'application/json').includes('ada'), false)
  assert.equal(fresh().body('{"one_more":"eve"}', 'application/json'), '{"one_more":"eve"}', 'more than there may be')
  for (const nothing of [undefined, null, 'pin', {}, { names: 'pin', allow: 1 }]) {
    hideBy(readNames(nothing))
    assert.equal(body(fresh()), '{"order_ref":"ada","pin":"[redacted]","page":2}')
  }
})

test('when the redactor fails, all of the event is hidden, and the next one is not', () => {
  const { console } = globalThis
  const event = (message: string): TabEvent => ({
    type: 'browser_debug_console_event',
    entry: { timestamp: 1, level: 'log', message, args: ['shown', message], source: 'https://a.test/app.js', stack_trace: 'at a' },
  })
  const failing = fresh()
  failing.console = () => {
    throw new WebAssembly.RuntimeError('unreachable')
  }
  const told: unknown[] = []
  globalThis.console = { ...console, error: (...all: unknown[]) => told.push(...all) }
  const shown = clean(failing, event('one'), 1000)
  globalThis.console = console
  assert.deepEqual(shown, {
    type: 'browser_debug_console_event',
    entry: { timestamp: 1, level: 'log', message: HIDDEN, args: [], source: HIDDEN, stack_trace: HIDDEN },
  })
  assert.equal(told.length, 2)
})

test('when too many are open all of them begin anew, and nothing is shown meanwhile', () => {
  const secret = 'hT5vXq8LmZ2rKd9WpB4n'
  const first = fresh()
  first.header('authorization', `Bearer ${secret}`)
  assert.throws(() => {
    for (let open = 0; open <= 600; open += 1) fresh().line('ada')
  }, /too many/)
  assert.equal(first.line(`token: ${secret}, ada`), 'token: [redacted], ada')
  assert.equal(first.line(`got ${secret}`), 'got [redacted]')
})

/** A form in which a secret comes. */
interface Form {
  name: string
  where: 'address' | 'body' | 'console' | 'header' | 'socket'
  secret: string
  header?: string
  mime?: string
  text?: string
  args?: unknown[]
  /** What must not be seen, where the secret stands in another writing. */
  shows?: string[]
}

test('of the forms that the node is tested with the same come out', () => {
  const folder = `${process.cwd()}/../../crates/redaction/tests/forms`
  const read = <T>(file: string) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as T
  const files = readdirSync(folder).filter((file) => file !== 'come_out.json').sort()
  const forms = files.flatMap((file) =>
    read<Form[]>(file).map((form) => ({ ...form, name: `${file.replace('.json', '')}: ${form.name}` })),
  )
  const out = forms.filter((form) => {
    const redactor = fresh()
    const shown = shownOf(redactor, form)
    redactor.close()
    return [form.secret, ...(form.shows ?? [])].some((secret) => shown.includes(secret))
  })
  assert.deepEqual(out.map(({ name }) => name), read<string[]>('come_out.json'))
  assert.ok(forms.length > 1000)
})

function shownOf(redactor: Redactor, { where, header = '', mime, text = '', args, secret }: Form): string {
  const planted = text.replaceAll('{secret}', secret)
  switch (where) {
    case 'address':
      return redactor.address(planted)
    case 'body':
      return redactor.body(planted, mime)
    case 'header':
      return redactor.header(header, planted)
    case 'socket':
      return redactor.socket('', planted)
    case 'console': {
      if (args === undefined) return redactor.line(planted)
      const given = JSON.stringify(args).replaceAll('{secret}', JSON.stringify(secret).slice(1, -1))
      const words = (JSON.parse(given) as unknown[]).map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)))
      const shown = redactor.console(given, words.join(' '))
      return `${shown.args}\n${shown.message}`
    }
  }
}
