// Who looks into the tabs of a session, and until when: as long as the page is seen and the node answers.

import { effect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { heard, link, node, tabChanges } from '../hub.ts'
import { ask } from '../node/client.ts'
import { Look, type LookNode } from './look.ts'

const lookNode: LookNode = {
  tabs: async (signal) => (await ask(node().api.GET('/debug/tabs', { signal }))).items,
  console: (question) => ask(node().api.POST('/debug/tabs/{token}/console', question)),
  network: (question) => ask(node().api.POST('/debug/tabs/{token}/network', question)),
  request: async (token, key) => {
    const how = { params: { path: { token } }, body: { id: String(key), bodies: true } }
    const { requests } = await ask(node().api.POST('/debug/tabs/{token}/network', how))
    return requests.find((request) => request.number === key)
  },
  heard,
  changed: tabChanges,
}

/** Looks into the tabs of a session. */
export function useLook(session: string): Look {
  const look = useMemo(() => new Look(session, lookNode), [session])
  useEffect(() => {
    const follow = () => {
      const isOnline = link.value.is === 'online'
      if (isOnline && !document.hidden) look.start()
      else look.stop()
    }
    const dispose = effect(follow)
    document.addEventListener('visibilitychange', follow)
    return () => {
      dispose()
      document.removeEventListener('visibilitychange', follow)
      look.stop()
    }
  }, [look])
  return look
}
