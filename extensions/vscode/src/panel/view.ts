// The view in the panel of VS Code: shows the tab that somebody chose, and asks for it only while it is seen.

import { randomBytes } from 'node:crypto'
import * as vscode from 'vscode'
import type { Schemas } from '../node/node.ts'
import type { Source } from './back.ts'
import { type Asked, readAsked, type Told } from './messages.ts'
import { page } from './page.ts'
import { NO_TAB, shown } from './state.ts'
import { Watch } from './watch.ts'

/** Its name in the manifest. */
export const VIEW = 'baton.tab'

/** Shows one tab. */
export class TabView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined
  private watch: Watch | undefined

  constructor(
    private readonly source: Source,
    private readonly extension: vscode.Uri,
  ) {}

  /** The tab that is shown. */
  get tab(): Schemas['DebugTab'] | undefined {
    return this.watch?.tab
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(this, vscode.window.registerWebviewViewProvider(VIEW, this))
  }

  /** Shows another tab, or the same one again. */
  async show(tab: Schemas['DebugTab']): Promise<void> {
    if (tab.token !== this.watch?.tab.token) {
      this.watch?.stop()
      this.watch = new Watch(this.source, tab, (told) => this.tell(told))
      this.whole()
    }
    if (this.view?.visible === true) this.watch?.start()
    await vscode.commands.executeCommand(`${VIEW}.focus`)
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view
    const dist = vscode.Uri.joinPath(this.extension, 'dist')
    const { webview } = view
    webview.options = { enableScripts: true, localResourceRoots: [dist] }
    const listening = vscode.Disposable.from(
      webview.onDidReceiveMessage((found: unknown) => void this.answer(readAsked(found))),
      view.onDidChangeVisibility(() => this.follow(view)),
    )
    view.onDidDispose(() => {
      listening.dispose()
      if (this.view === view) this.view = undefined
      this.watch?.stop()
    })
    const at = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString()
    webview.html = page({
      source: webview.cspSource,
      script: at('panel.js'),
      style: at('panel.css'),
      nonce: randomBytes(16).toString('base64url'),
    })
    this.follow(view)
  }

  dispose(): void {
    this.watch?.stop()
  }

  private follow(view: vscode.WebviewView): void {
    if (view.visible) this.watch?.start()
    else this.watch?.stop()
  }

  private async answer(asked: Asked | undefined): Promise<void> {
    switch (asked?.ask) {
      case 'ready':
        return this.whole()
      case 'clear':
        return this.watch?.clear(asked.list)
      case 'details':
        return this.watch?.details(asked.key)
      case 'copy': {
        const address = this.watch?.addressOf(asked.key)
        if (address !== undefined) await vscode.env.clipboard.writeText(address)
        return
      }
      case 'remedy': {
        const remedy = this.watch === undefined ? NO_TAB.remedy : this.watch.remedy
        if (remedy !== undefined) await vscode.commands.executeCommand(remedy.command, ...remedy.words)
      }
    }
  }

  private whole(): void {
    if (this.watch === undefined) this.tell({ tell: 'tab', tab: shown(undefined, NO_TAB) })
    else this.watch.whole()
  }

  private tell(told: Told): void {
    if (told.tell === 'tab' && this.view !== undefined) this.view.description = told.tab.of
    void this.view?.webview.postMessage(told)
  }
}
