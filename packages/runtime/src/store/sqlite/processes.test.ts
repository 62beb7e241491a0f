import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const LOADER = pathToFileURL(join(import.meta.dirname, '../../../../../test/support/load-typescript.mjs')).href
const MODULE = pathToFileURL(join(import.meta.dirname, '../../../../library/src/stores.ts')).href

let root: string
const children: ChildProcess[] = []
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-hub-store-processes-'))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(root, { recursive: true, force: true })
})

function start(folder: string, script: string) {
  const source = `
    import { writeSync } from 'node:fs'
    import { once } from 'node:events'
    import { openStore } from ${JSON.stringify(MODULE)}
    const store = openStore(${JSON.stringify(folder)})
    const say = (word) => writeSync(1, word + '\\n')
    ${script}`
  const child = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

describe('a process that is killed', () => {
  it('leaves everything that was acknowledged', async () => {
    const folder = join(root, 'killed')
    const child = start(
      folder,
      `for (let n = 0; ; n++) {
        await store.keys.claim('k' + n, { argsHash: 'h', owner: 'o', now: 0 })
        await store.keys.finish('k' + n, { owner: 'o', result: '"' + 'x'.repeat(n % 3000) + '"', expiresAt: 1 })
        store.budgets.reserve([{ account: 'a', limits: {} }], 1)
        store.events.append({ topic: 't', body: '', at: 0 })
        say(String(n))
      }`,
    )
    const closed = once(child, 'close')
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (lines.length === 300) child.kill('SIGKILL')
    }
    await closed
    const last = lines.length - 1
    const store = openStore(folder)
    for (let n = 0; n <= last; n++)
      expect(store.keys.look(`k${n}`)).toMatchObject({ state: 'finished', result: `"${'x'.repeat(n % 3000)}"` })
    const { calls, cost } = await store.budgets.used('a')
    expect(calls).toBeGreaterThanOrEqual(lines.length)
    expect(cost).toBe(calls)
    await store.check()
    await store.close()
  })
})

describe('two processes on one file', () => {
  it('give each key, job and slot to one of them, and keep a budget together', async () => {
    const folder = join(root, 'shared')
    const store = openStore(folder)
    for (let n = 0; n < 100; n++) await store.jobs.add({ id: `job-${n}`, kind: 'hook', body: '', dueAt: 0 })
    const heard: string[] = []
    const stop = store.events.watch(({ body }) => heard.push(body))
    const racers = ['a', 'b'].map((name) =>
      start(
        folder,
        `const owner = ${JSON.stringify(name)}
        await store.check()
        say('ready')
        await once(process.stdin, 'data')
        for (let n = 0; n < 150; n++) {
          if (!await store.keys.claim('k' + n, { argsHash: 'h', owner, now: 0 })) say('key-' + n)
          if (store.slots.lease('s' + n, { owner, now: 0, until: 1 })) say('slot-' + n)
          if (store.budgets.reserve([{ account: 'x', limits: {} }, { account: 'a', limits: { calls: 100 } }], 1).ok) say('call')
          const job = store.jobs.take({ kind: 'hook', owner, now: 0, leaseMs: 1000 })
          if (job) say(job.id)
        }
        store.events.append({ topic: 'done', body: owner, at: 0 })
        await store.close()
        process.stdin.destroy()`,
      ),
    )
    await Promise.all(racers.map(({ stdout }) => once(stdout, 'readable')))
    const outputs = racers.map(({ stdout }) => text(stdout))
    for (const { stdin } of racers) stdin.write('go\n')
    const won = (await Promise.all(outputs)).flatMap((output) => output.trim().split('\n').filter(isWon))
    const names = [
      ...Array.from({ length: 150 }, (_, n) => [`key-${n}`, `slot-${n}`]).flat(),
      ...Array.from({ length: 100 }, (_, n) => `job-${n}`),
      ...Array<string>(100).fill('call'),
    ]
    expect(won.sort()).toEqual(names.sort())
    expect(await store.budgets.used('x')).toEqual(await store.budgets.used('a'))
    await expect.poll(() => [...heard].sort()).toEqual(['a', 'b'])
    stop()
    await store.close()
  })
})

function isWon(line: string): boolean {
  return line !== 'ready'
}
