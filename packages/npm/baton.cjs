#!/usr/bin/env node
// Starts the program of this machine, which is a package of its own: its arguments, its end and signals are
// passed on. Nothing is downloaded.
'use strict'
const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const manifest = require('../package.json')

const SCOPE = '@baton-browser/'
// What asks a program to end or to read its settings again.
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2']
// How shells tell a program that cannot be started.
const CANNOT_START = 126

function program() {
  const platform = `${process.platform}-${process.arch}`
  try {
    return require.resolve(`${SCOPE}${platform}/bin/baton`)
  } catch {
    const there = Object.keys(manifest.optionalDependencies).map((name) => name.slice(SCOPE.length))
    const known = there.includes(platform)
    console.error(
      known
        ? `error: expected the package ${SCOPE}${platform} beside ${manifest.name}, found none\n` +
            'install it without --omit=optional, with glibc as the C library; or run the image, in which all is there: ' +
            `${manifest.homepage}/blob/main/docs/guide/container.md`
        : `error: expected one of ${there.join(', ')}, found ${platform}: there is no build for it\n` +
            `run the image instead: ${manifest.homepage}/blob/main/docs/guide/container.md`,
    )
    process.exit(CANNOT_START)
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' })
// A terminal tells the whole group, this process and the program: what is passed on then comes twice, and ends
// it no sooner. What is sent to this process alone comes only so.
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`error: could not start ${child.spawnfile}: ${error.message}`)
  process.exit(CANNOT_START)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  // It ended by a signal, and so does this, for whoever waits to see it.
  for (const name of SIGNALS) process.removeAllListeners(name)
  process.kill(process.pid, signal)
  // One that does not end a process, or is ignored, is told as shells do.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000)
})
