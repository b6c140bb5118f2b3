// Pages of the tests.

/** A page that says what it is told to: `say('word')` writes a line and makes a request. */
export const TALKER =
  "<!doctype html><title>talker</title><link rel=icon href=data:,><body><script>const say = (word) => { console.log(word); return fetch('/said?word=' + word).then((it) => it.text()) }; say('hello')</script>"
