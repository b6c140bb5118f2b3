// What is kept for good: who this browser is, to which node it is paired, what the person set.

import { DEFAULT_SIGNALING_URL } from '../link/address.ts'
import { BODY_BYTES, MOST_BODY_BYTES } from '../limits.ts'
import type { Cocoon } from '../protocol.ts'
import { readCocoons } from '../tabs/scope.ts'

export interface Settings {
  browser_id: string
  signaling_url: string
  /** Bytes of a body that are kept at most. */
  response_body_max_size: number
  /** Opens the node's socket; none when it is not paired. Never leaves the worker but to the node. */
  key?: string
  /** The key was good once, and is no more. */
  isRevoked: boolean
  /** What the node said last. */
  cocoons: Cocoon[]
}

/** Reads them; what is missing or makes no sense is as at the beginning. */
export async function loadSettings(): Promise<Settings> {
  const kept: Record<string, unknown> = await chrome.storage.local.get(null)
  const { browser_id, signaling_url, key, is_revoked } = kept
  const settings: Settings = {
    browser_id: typeof browser_id === 'string' ? browser_id : crypto.randomUUID(),
    signaling_url: typeof signaling_url === 'string' ? signaling_url : DEFAULT_SIGNALING_URL,
    response_body_max_size: bodySize(kept['response_body_max_size']),
    isRevoked: is_revoked === true,
    cocoons: readCocoons(kept['cocoons']),
  }
  if (typeof key === 'string') settings.key = key
  if (browser_id !== settings.browser_id) await saveSettings(settings)
  return settings
}

export async function saveSettings(settings: Settings): Promise<void> {
  const { isRevoked, key, ...rest } = settings
  await chrome.storage.local.set({ ...rest, is_revoked: isRevoked, ...(key !== undefined && { key }) })
  if (key === undefined) await chrome.storage.local.remove('key')
}

/** A size that makes sense. */
export function bodySize(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return BODY_BYTES
  return Math.min(MOST_BODY_BYTES, Math.max(0, Math.round(value)))
}
