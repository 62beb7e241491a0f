import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createToolHub } from '../../packages/tool-hub/dist/index.js'
import { dataOf } from './ours.mjs'
import { ownerRules } from './rules.mjs'

const PATTERNS = ['true', 'git status', 'git diff *', 'ls *', 'grep *', 'npm test *']
const RULES = [{ allow: 'exec', on: PATTERNS }, { ask: 'exec' }]

/** A hub that runs commands by its rules, in the best sandbox of this machine; `prepared` sandboxes wait for the next one. */
export async function commandHub(folder, { prepared, rules = RULES } = {}) {
  const root = join(folder, 'project')
  await mkdir(root, { recursive: true })
  const hub = createToolHub({
    policy: [...ownerRules(49), ...rules],
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    sandbox: { root, commands: { prepared } },
    limits: { tools: { 'core/exec.run': { concurrency: 8 } } },
  })
  const { sandbox } = await dataOf(hub.call('core/exec.run', { argv: ['true'] }))
  if (sandbox !== 'full') throw new Error(`commands run at level ${sandbox}; install bubblewrap`)
  return hub
}

/** One governed, sandboxed `true`. */
export function runTrue(hub) {
  return dataOf(hub.call('core/exec.run', { argv: ['true'] }))
}

/** What nobody can be quicker than: the program alone, as Node starts it. */
export async function spawnTrue() {
  const child = spawn('true', [], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`true ended with ${code}`)
}
