// What the node's document calls its types: alone, so that whoever needs no client needs no Node.js either.

import type { components } from './api.ts'

export type Schemas = components['schemas']
