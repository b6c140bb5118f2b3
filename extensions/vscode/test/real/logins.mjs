// Logins that no site knows: storageStates to import.

/** A storageState with one cookie. */
export const storageState = (domain, value) => ({
  cookies: [{ name: 'sid', value, domain, path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' }],
  origins: [{ origin: `http://${domain}`, localStorage: [{ name: 'theme', value: 'dark' }] }],
})
