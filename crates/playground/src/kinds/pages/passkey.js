// A passkey, which only an authenticator can make and keep. A browser without one waits for it.
const patience = 2000;

Object.assign(kinds, {
  "passkey": {
    fill: () => navigator.credentials.create({
      publicKey: {
        rp: { name: "kinds" },
        user: { id: bytes(1, 2, 3), name: "ada", displayName: "Ada" },
        challenge: bytes(4, 5, 6),
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        authenticatorSelection: { residentKey: "required" },
      },
      signal: AbortSignal.timeout(patience),
    }),
    // The site names no key: the authenticator tells whose it has.
    check: async () => {
      const found = await navigator.credentials.get({
        publicKey: { challenge: bytes(7, 8, 9) },
        signal: AbortSignal.timeout(patience),
      });
      return equal(new Uint8Array(found.response.userHandle), bytes(1, 2, 3));
    },
  },
});
