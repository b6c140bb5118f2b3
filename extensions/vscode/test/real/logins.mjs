// Logins that no site knows: storageStates to import.

/** A storageState with a cookie at each of so many sites. */
export const logins = (count) => ({
  cookies: Array.from({ length: count }, (_, at) => storageState(`shop${at}.test`, `value ${at}`).cookies[0]),
  origins: [],
})

/** A storageState with one cookie. */
export const storageState = (domain, value) => ({
  cookies: [{ name: 'sid', value, domain, path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' }],
  origins: [{ origin: `http://${domain}`, localStorage: [{ name: 'theme', value: 'dark' }] }],
})
