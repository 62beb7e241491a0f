// The hub that the path cases go through.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { createToolHub } from '../../packages/tool-hub/dist/index.js'
import { extractTool } from './extract-tool.mjs'

/**
 * A hub over {ROOT} whose owner allows everything, so that what refuses a case is the guard and the shipped policy.
 * `policy` of a case is a sentence; the patterns it names are denied for reading.
 */
export function openPathHub({ base, root }, { policy = '', race = false }) {
  const denied = policy.match(/\*\*\/[^\s,)]+/g)
  const [runs, data] = ownFolders({ base })
  // Made now: what is outside {ROOT} is compared from here on.
  for (const folder of [runs, data]) mkdirSync(folder, { mode: 0o700 })
  return createToolHub({
    tools: [extractTool],
    sandbox: { root },
    policy: [
      ...['read:fs', 'write:fs', 'danger:destructive'].map((capability) => ({ allow: capability })),
      ...(denied ? [{ deny: 'read:fs', on: denied }] : []),
    ],
    // 10,000 records would be most of the time of a race.
    runs: race ? false : runs,
    data,
    durability: 'behind',
  })
}

/** Where the hub itself writes: not what a tool changed. */
export function ownFolders({ base }) {
  return [path.join(base, 'records'), path.join(base, 'data')]
}
