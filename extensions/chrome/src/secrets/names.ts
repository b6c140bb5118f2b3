// Names of secrets: the same words as in the node (`crates/debug/src/secrets/names.rs`).

/** Words that make a name a secret's, wherever they stand in it: `X-Api-Key`, `accessToken`, `PHPSESSID`. */
const PARTS = new RegExp(
  'password|passwd|passphrase|passcode|secret|token|apikey|credential|authorization' +
    '|authkey|accesskey|privatekey|signingkey|encryptionkey|masterkey|subscriptionkey|sharedkey' +
    '|sessionkey|sessionid|sessid|connectsid|sessioncookie|assertion|samlresponse|signature' +
    '|connectionstring|authcode|authorizationcode|verificationcode|recoverycode|backupcode' +
    '|securitycode|onetimecode|cardnumber|creditcard|codeverifier|clientdata|idtoken',
)

/** Words that make a name a secret's when they stand by themselves in it. */
const WORDS = words(`auth authentication bearer cookie cookies credential csrf cvc cvv hmac jwt mfa otp pass
  pin psw pw pwd sid sig sso ticket totp tkn xauth xsrf`)

/** Names that mean a secret in an address or a form, and something else in JSON or in prose. */
const IN_ADDRESSES = words('code key k nonce session sign state')

/** Last words of names that tell *about* a secret. */
const ABOUT = words(`age at attempts count disabled enabled endpoint error errors exists expired expires
  expiration expiry field hint in label length limit max message method methods min mode name names
  placeholder policy required size status strength ttl type uri url`)

/** Words beside which tokens are counted, not told. */
const COUNTED = words(`max min total prompt completion input output num cached reasoning used remaining
  count per`)

/** Names whose value is a name, of what stands beside it: `{"name": "password", "value": "…"}`. */
const NAMING = words('name key id field header property')

/** Names of what stands there. */
const NAMED = words('value content values')

/** The longest name that is looked at. */
const MAX_NAME = 128

/** Names come again and again: what was found out of them, of so many at most. */
const KNOWN = new Map<string, boolean>()
const MAX_KNOWN = 5_000

/** Whether what stands under this name is a secret. */
export function isSecret(name: string): boolean {
  const known = KNOWN.get(name)
  if (known !== undefined) return known
  const found = judge(name)
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear()
  if (name.length <= MAX_NAME) KNOWN.set(name, found)
  return found
}

function judge(name: string): boolean {
  const all = split(name.slice(-MAX_NAME))
  const last = all.at(-1)
  if (last === undefined) return false
  if (all.length > 1 && ABOUT.has(last)) return false
  if (all.includes('tokens') && all.some((word) => COUNTED.has(word))) return false
  if (all.some((word) => WORDS.has(word))) return true
  return PARTS.test(all.join('').replaceAll('tokeniz', ''))
}

/** Whether what stands under this name in an address or a form is a secret. */
export function isSecretInAddress(name: string): boolean {
  return IN_ADDRESSES.has(name.toLowerCase()) || isSecret(name)
}

/** Whether what stands under this name is the name of what stands beside it. */
export function namesAnother(name: string): boolean {
  return NAMING.has(name.toLowerCase())
}

/** Whether this is what stands beside such a name. */
export function isNamedBeside(name: string): boolean {
  return NAMED.has(name.toLowerCase())
}

/** Lower-case words, cut at what is no letter and no digit, and where a new hump begins. */
function split(name: string): string[] {
  const humps = name.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
  return humps.toLowerCase().split(/[^\p{Alphabetic}\p{N}]+/u).filter((word) => word !== '')
}

function words(text: string): Set<string> {
  return new Set(text.split(/\s+/))
}
