// Registers a peer, step by step: where it is, what opens it, who it is, and whether it answers.
//
// Until all answers are given nothing is asked of any node; a fingerprint that differs leaves nothing behind.

import * as vscode from 'vscode'
import { Failure, failureOf } from '../node/failure.ts'
import { ask, type Node, type Schemas } from '../node/node.ts'
import { readAddress } from '../settings.ts'
import { pendingThere } from '../view/rows.ts'
import { type Command, given, progress, say } from './command.ts'
import { pickPeer } from './pick.ts'

type Request = Schemas['RegisterPeer']

export const registerPeer: Command = async ({ hub }) => {
  const node = await hub.node()
  const url = await line('Address of the other node (1 of 4)', 'https://baton.example.org:7420', (text) => {
    readAddress(text, 'it')
  })
  const address = readAddress(url, 'it')
  const name = await line('What you call it (2 of 4)', 'server', named, address.hostname.split('.')[0])
  const request: Request = { url: address.href, name, ...(await credentials()) }
  const peer = await progress(`asking ${name} who it is`, () => ask(node.patient.POST('/sync/peers', { body: request })))
  await hub.look()
  if (peer.state === 'pending') await compare(node, peer)
  else await test(node, peer)
  await hub.look()
}

export const confirmPeer: Command = async ({ hub }, row) => {
  const node = await hub.node()
  const peer = await pickPeer(node, row?.subject, 'Which peer?', (peer) => peer.state === 'pending')
  await compare(node, peer)
  await hub.look()
}

/** How this node says there who it acts for, and what that takes. */
async function credentials(): Promise<Pick<Request, 'authMethod' | 'apiKey' | 'oidc' | 'tunnelToken'>> {
  const ways: (vscode.QuickPickItem & { way: Schemas['AuthMethod'] })[] = [
    { label: 'API key', detail: 'made there with "baton keys create --name NAME --scope sync"', way: 'apikey' },
    { label: 'Entra ID', detail: 'as a client of the provider whose tokens the other node takes', way: 'msal' },
    { label: 'Dev tunnel', detail: 'a tunnel leads to it; a key of the node goes with its token', way: 'tunnel' },
  ]
  const { way } = given(await vscode.window.showQuickPick(ways, { title: 'What opens it (3 of 4)', ignoreFocusOut: true }))
  if (way === 'msal') return { authMethod: way, oidc: await client() }
  const apiKey = await secret('API key of the other node (4 of 4)')
  if (way === 'apikey') return { authMethod: way, apiKey }
  return { authMethod: way, apiKey, tunnelToken: await secret('Token of the tunnel') }
}

async function client(): Promise<Schemas['ClientCredential']> {
  const issuer = await line('Issuer of the tokens', 'https://login.microsoftonline.com/TENANT/v2.0', (text) => {
    readAddress(text, 'the issuer')
  })
  const clientId = await line('Client id', '')
  const scope = await line('Scope', 'api://baton/.default')
  const resource = await line('Resource, where the provider asks for one', 'left empty: none, as with Entra ID', () => {})
  const clientSecret = await secret('Client secret (4 of 4)')
  return { issuer, clientId, scope, clientSecret, ...(resource === '' ? {} : { resource }) }
}

/** A person compares; the extension never does. */
async function compare(node: Node, peer: Schemas['PeerView']): Promise<void> {
  const path = { peer: peer.nodeId }
  const same = { label: '$(verified) It is the same', detail: 'confirm it: sessions may move from now on' }
  const differs = { label: '$(error) It differs', detail: 'somebody else answered: remove the peer' }
  const later = { label: '$(clock) Later', detail: 'it stays pending, and nothing moves' }
  const title = `Fingerprint of ${peer.name}: is it what "baton peers list" shows there?`
  const options = { title, placeHolder: peer.fingerprint, ignoreFocusOut: true }
  // What one gets by a careless Enter decides nothing.
  const chosen = await vscode.window.showQuickPick([later, same, differs], options)
  if (chosen === differs) {
    await ask(node.api.DELETE('/sync/peers/{peer}', { params: { path } }))
    throw new Failure('node', `${peer.name} was removed: its fingerprint differs`, 'find out who answers at its address')
  }
  if (chosen !== same) return say(`${peer.name} stays pending. "Baton: Confirm a Peer's Fingerprint" goes on`)
  await ask(node.api.POST('/sync/peers/{peer}/confirm', { params: { path }, body: { fingerprint: peer.fingerprint } }))
  await test(node, peer)
}

async function test(node: Node, peer: Schemas['PeerView']): Promise<void> {
  const params = { path: { peer: peer.nodeId } }
  const tested = await progress(`asking ${peer.name} whether it lets us in`, async () => {
    try {
      return await ask(node.patient.POST('/sync/peers/{peer}/ping', { params }))
    } catch (error) {
      throw new Failure(
        'node',
        `${peer.name} is registered, but ${failureOf(error).message}`,
        'register it again with another key',
      )
    }
  })
  const there = pendingThere(tested)
  if (there !== undefined) return say(there)
  if (tested.status === 'online') return say(`${peer.name} is confirmed and answers`)
  const why = tested.reason ?? `it is ${tested.status}`
  throw new Failure(
    'node',
    `${peer.name} is registered, but does not answer: ${why}`,
    'start it, or register it again with another key',
  )
}

async function line(title: string, placeHolder: string, check: (text: string) => void = named, value = ''): Promise<string> {
  const validateInput = (text: string) => {
    try {
      check(text)
      return undefined
    } catch (error) {
      return failureOf(error).message
    }
  }
  return given(await vscode.window.showInputBox({ title, placeHolder, value, validateInput, ignoreFocusOut: true })).trim()
}

async function secret(title: string): Promise<string> {
  const validateInput = (text: string) => (text.trim() === '' ? 'expected a key, found nothing' : undefined)
  return given(await vscode.window.showInputBox({ title, password: true, validateInput, ignoreFocusOut: true })).trim()
}

function named(text: string): void {
  if (text.trim() === '') throw new Failure('settings', 'expected a text, found nothing')
}
