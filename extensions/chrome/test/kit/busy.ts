// A page that does a little of everything, one thing after the other: the one of the node's own recorder.

import type { Answer } from './site.ts'

/** The frame of another site. */
export const FRAME: Record<string, Answer> = {
  '/': "<!doctype html><script>console.warn('frame'); fetch('/from-frame').then((it) => it.text()).then(() => parent.postMessage(1, '*'))</script>",
  '/from-frame': 'for the frame',
}

/** The page's paths; `frame` is the address of the frame, `echo` of a WebSocket, `nobody` of no one. */
export function busy(frame: string, echo: string, nobody: string): Record<string, Answer> {
  const script = `
    const heard = (what) => new Promise((done) => what.addEventListener('message', done));
    (async () => {
      await (await fetch('/ok')).text();
      await (await fetch('/missing')).text();
      await fetch('${nobody}').catch(() => {});
      await fetch('/empty');
      await fetch('/ok', { method: 'HEAD' });
      const given_up = new AbortController();
      setTimeout(() => given_up.abort(), 50);
      await fetch('/silent', { signal: given_up.signal }).catch(() => {});
      await (await fetch('/moved')).text();
      await (await fetch('/form', { method: 'POST', body: 'a=1&b=2' })).text();
      await (await fetch('/large')).text();
      const worker = new Worker('/worker.js');
      await heard(worker);
      const frame = document.createElement('iframe');
      frame.src = '${frame}';
      const loaded = heard(window);
      document.body.append(frame);
      await loaded;
      const socket = new WebSocket('${echo}');
      await new Promise((open) => socket.onopen = open);
      const answered = heard(socket);
      socket.send('hello');
      await answered;
      socket.close();
      await new Promise((closed) => socket.onclose = closed);
      console.debug('d'); console.info({ a: 1 }); console.warn([1, 'x']); console.error(new Error('e'));
      Promise.reject(new TypeError('rejected'));
      setTimeout(() => { throw new RangeError('thrown'); });
      setTimeout(() => console.log('done'), 100);
    })();`
  return {
    '/': `<!doctype html><title>page</title><link rel=icon href=data:,><body><script>console.log('inline %s', 'script')</script><script src='/external.js'></script><script>${script}</script></body>`,
    '/external.js': "console.log('external')",
    '/ok': 'all is well',
    '/empty': (_request, response) => response.writeHead(204).end(),
    '/silent': () => {},
    '/moved': (_request, response) => response.writeHead(302, { location: '/ok' }).end(),
    '/form': 'thanks',
    '/large': 'x'.repeat(300_000),
    '/worker.js': "console.log('worker'); fetch('/from-worker').then((it) => it.text()).then(() => postMessage(1))",
    '/from-worker': 'for the worker',
  }
}
