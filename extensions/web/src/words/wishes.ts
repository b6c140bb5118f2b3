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

/** The question, as it is put. */
export function wish({ origin, within, names }: Schemas['LivePermission']): string {
  const place = within == null ? '' : ` (in a page of ${within})`
  return `${origin}${place} wants to ${names.map((name) => WISHES[name] ?? name).join(' and ')}`
}
