// Which tab stands in the place of one that is gone.

import type { Schemas } from '../schemas.ts'

type Tab = Schemas['DebugTab']

/**
 * The tab itself, else the only one of the same browser and owner that shows the same address: a node that was
 * started anew has other tokens for the same tabs.
 */
export function heir(tabs: Tab[], tab: Tab): Tab | undefined {
  const same = tabs.find((one) => one.token === tab.token)
  if (same !== undefined) return same
  const [first, ...others] = tabs.filter(
    (one) => one.cocoon_id === tab.cocoon_id && one.browser_id === tab.browser_id && one.url === tab.url,
  )
  return others.length === 0 ? first : undefined
}
