// What a site wishes for that a person has to allow, in words.

import type { Schemas } from '../node/client.ts'

const WISHES: Record<string, string> = {
  camera: 'use the camera',
  'clipboard-read': 'read the clipboard',
  geolocation: 'know your location',
  microphone: 'use the microphone',
  midi: 'use MIDI devices',
  'midi-sysex': 'use and reprogram MIDI devices',
  notifications: 'show notifications',
}

/** Who asks, and in whose page: by the browser, which no page talks into. */
export function whose({ origin, within }: { origin: string; within?: string | null }): string {
  return within == null ? origin : `${origin} (in a page of ${within})`
}

/** The question, as it is put. */
export function wish({ names, ...asks }: Schemas['LivePermission']): string {
  return `${whose(asks)} wants to ${names.map((name) => WISHES[name] ?? name).join(' and ')}`
}
