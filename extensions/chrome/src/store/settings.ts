// What is kept for good: who this browser is, to which node it is paired, what the person set.

import { DEFAULT_SIGNALING_URL } from '../link/address.ts'
import { FINAL } from '../link/codes.ts'
import { BODY_BYTES, MOST_BODY_BYTES } from '../limits.ts'
import type { Cocoon, OwnNames } from '../protocol.ts'
import { readNames } from '../secrets/names.ts'
import { readCocoons } from '../tabs/scope.ts'

export interface Settings {
  browser_id: string
  signaling_url: string
  /** Bytes of a body that are kept at most. */
  response_body_max_size: number
  /** Opens the node's socket; none when it is not paired. Never leaves the worker but to the node. */
  key?: string
  /** The key was good once, and is no more: why, for people. */
  revoked?: string
  /** What the node said last: its cocoons, and by which names of its own secrets are told. */
  cocoons: Cocoon[]
  redact: OwnNames
}

/** Reads them; what is missing or makes no sense is as at the beginning. */
export async function loadSettings(): Promise<Settings> {
  const kept: Record<string, unknown> = await chrome.storage.local.get(null)
  const { browser_id, signaling_url, key, revoked } = kept
  const settings: Settings = {
    browser_id: typeof browser_id === 'string' ? browser_id : crypto.randomUUID(),
    signaling_url: typeof signaling_url === 'string' ? signaling_url : DEFAULT_SIGNALING_URL,
    response_body_max_size: bodySize(kept['response_body_max_size']),
    cocoons: readCocoons(kept['cocoons']),
    redact: readNames(kept['redact']),
  }
  if (typeof key === 'string') settings.key = key
  // The version before kept no more than that it was.
  if (typeof revoked === 'string') settings.revoked = revoked
  else if (kept['is_revoked'] === true) settings.revoked = FINAL.revoked
  if (browser_id !== settings.browser_id) await saveSettings(settings)
  return settings
}

export async function saveSettings(settings: Settings): Promise<void> {
  const { revoked, key } = settings
  await chrome.storage.local.set(settings)
  const gone = ['is_revoked', ...(key === undefined ? ['key'] : []), ...(revoked === undefined ? ['revoked'] : [])]
  await chrome.storage.local.remove(gone)
}

/** A size that makes sense. */
export function bodySize(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return BODY_BYTES
  return Math.min(MOST_BODY_BYTES, Math.max(0, Math.round(value)))
}
