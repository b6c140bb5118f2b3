// What a session looks like in a list: the icon of its site, wherever that is.

import assert from 'node:assert/strict'
import { openSite } from '../site.mjs'

export default async function ({ step, code, there }) {
  await step('a list of what the peer has shows the icons of sites', async () => {
    const site = await openSite()
    try {
      await there.baton('open', site.url, '--name', 'pictured')
      await there.baton('save', 'pictured')
      await code.status('sync', '1 to pull')
      await code.run('List Remote Sessions')
      const row = (name) => code.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first()
      await row('pictured').locator('.quick-input-list-icon[style*="data:image/png;base64,"]').waitFor({ timeout: 15_000 })
      assert.equal(await row('forum').locator('.codicon-globe').count(), 1, 'a session without an icon has a globe')
      await code.silent()
      await code.shot('icons')
      await code.page.keyboard.press('Escape')
      await there.baton('sessions', 'close', 'pictured')
      await there.baton('sessions', 'delete', 'pictured')
      await code.status('sync', 'synced')
    } finally {
      site.close()
    }
  })
}
