// Registers the node in the cloud that the settings name: pending, until a person has confirmed its fingerprint.

import type { Hub } from './hub.ts'
import { ask } from './node/node.ts'

/** Registers it once; whether it is new here. One that is a peer already, or does not answer, changes nothing. */
export async function registerCloud(hub: Hub): Promise<boolean> {
  const settings = hub.settings()
  const url = settings.syncCloudUrl
  if (!settings.syncEnabled || !settings.syncAutoRegisterCloud || url === undefined) return false
  const { api, patient } = await hub.node()
  const { items } = await ask(api.GET('/sync/peers'))
  if (items.some((peer) => peer.name === 'cloud' || (peer.url != null && new URL(peer.url).href === url.href))) return false
  await ask(patient.POST('/sync/peers', { body: { url: url.href, name: 'cloud', authMethod: 'apikey' } }))
  return true
}
