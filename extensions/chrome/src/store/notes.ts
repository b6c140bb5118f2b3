// What is kept of the tabs until the browser ends: the service worker may end at any moment.

import type { TabNote } from '../tabs/tab.ts'

const KEY = 'tabs'
/** How long a change that can be guessed again may wait, in milliseconds. */
const LAZY_MS = 200

/** Writes the notes of the tabs, one write at a time. */
export class Notes {
  private isWriting = false
  private isDirty = false
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly all: () => TabNote[]) {}

  static async load(): Promise<TabNote[]> {
    const kept: Record<string, unknown> = await chrome.storage.session.get(KEY)
    const notes = kept[KEY]
    return Array.isArray(notes) ? (notes as TabNote[]) : []
  }

  /** Numbers went on. */
  soon(): void {
    this.timer ??= setTimeout(() => this.now(), LAZY_MS)
  }

  /** Something that has to be known. */
  now(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.isDirty = true
    if (!this.isWriting) void this.write()
  }

  private async write(): Promise<void> {
    this.isWriting = true
    while (this.isDirty) {
      this.isDirty = false
      await chrome.storage.session.set({ [KEY]: this.all() }).catch(() => {})
    }
    this.isWriting = false
  }
}
