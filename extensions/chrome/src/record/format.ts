// What `console.log` prints of its arguments (WHATWG Console, "Formatter"), as the node's recorder does.

import type { Protocol } from 'devtools-protocol'

type RemoteObject = Protocol.Runtime.RemoteObject
type Preview = Protocol.Runtime.ObjectPreview

/** An argument as text. */
export function printed(arg: RemoteObject): string {
  if (arg.value !== undefined) return typeof arg.value === 'string' ? arg.value : JSON.stringify(arg.value)
  if (arg.unserializableValue !== undefined) return arg.unserializableValue
  if (arg.preview !== undefined && arg.preview.subtype !== 'error') return previewed(arg.preview)
  return arg.description ?? arg.type
}

/** An argument as data, as far as it is any. */
export function plain(arg: RemoteObject): unknown {
  return arg.value !== undefined ? arg.value : printed(arg)
}

/** The arguments as one text. */
export function message(args: RemoteObject[]): string {
  const [first, ...rest] = args
  if (first === undefined) return ''
  const text = typeof first.value === 'string' ? fill(first.value, rest) : printed(first)
  return [text, ...rest.map(printed)].join(' ')
}

/** A pattern with its gaps filled by arguments, which are taken; a style (`%c`) shows nothing. */
function fill(pattern: string, args: RemoteObject[]): string {
  return pattern.replace(/%([%sdifoOjc])/g, (gap: string, kind: string) => {
    if (kind === '%') return '%'
    const arg = args.shift()
    if (kind === 'c') return ''
    return arg === undefined ? gap : printed(arg)
  })
}

function previewed(preview: Preview): string {
  const isList = preview.subtype === 'array' || preview.subtype === 'typedarray'
  const shown = preview.properties.map(({ name, type, value = '' }) => {
    const text = type === 'string' ? JSON.stringify(value) : value
    return isList ? text : `${name}: ${text}`
  })
  if (preview.overflow) shown.push('…')
  return isList ? `[${shown.join(', ')}]` : `{${shown.join(', ')}}`
}
