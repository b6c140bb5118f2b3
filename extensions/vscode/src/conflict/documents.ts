// Texts that can be looked at and not changed, side by side.

import * as vscode from 'vscode'

const SCHEME = 'baton-conflict'
/** How many texts are kept for editors that are open. */
const MOST = 32

/** Keeps the texts of comparisons, and shows them. */
export class Documents implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>()
  private made = 0

  /** Tells VS Code where such texts come from. */
  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this)
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This comparison is no longer kept. Run "Baton: Resolve a Conflict" again.'
  }

  /** Shows two texts, each with its name. */
  async compare(name: string, left: [string, string], right: [string, string]): Promise<void> {
    const title = `${name}: ${left[0]} ↔ ${right[0]}`
    await vscode.commands.executeCommand('vscode.diff', this.keep(name, left), this.keep(name, right), title, { preview: true })
  }

  /** Closes what was compared of a session: it holds no more once somebody has chosen. */
  async close(name: string): Promise<void> {
    const isOfIt = ({ input }: vscode.Tab) =>
      input instanceof vscode.TabInputTextDiff && input.original.scheme === SCHEME && input.original.path.startsWith(`/${name}/`)
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.filter(isOfIt))
    await vscode.window.tabGroups.close(tabs)
  }

  private keep(name: string, [rev, text]: [string, string]): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}/${rev}.txt`, query: String(this.made++) })
    this.texts.set(uri.toString(), text)
    for (const key of [...this.texts.keys()].slice(0, -MOST)) this.texts.delete(key)
    return uri
  }
}
