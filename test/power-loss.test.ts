import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient, type HubClient } from '@tool-hub/client'
import { expect, it, vi } from 'vitest'
import type { HubOptions } from '../packages/core/src/options.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { CLI_MAIN } from './support/cli.ts'

// A service is started on thirty disks.
vi.setConfig({ testTimeout: 600_000 })

/** How often the power is lost. */
const LOSSES = 30
/** What was acknowledged before, of each kind that is looked at again; asking for all each time would take minutes. */
const LOOKED_AT = 5

/** What was acknowledged to clients. */
interface Acknowledged {
  readonly effects: string[]
  /** Secrets of tokens that were revoked. */
  readonly revoked: string[]
  /** Answers that hold for the same arguments from then on. */
  readonly answered: { readonly id: string; readonly decision: string; readonly text: string }[]
  readonly schedules: string[]
  /** Runs that have read content from outside. */
  readonly tainted: string[]
}

/**
 * The service works on a file system of its own, in an image. While it is stopped the image is copied: that has what
 * was synced or written back, as a disk has it when the power is lost. Then the service is started on each copy.
 */
it.skipIf(process.getuid?.() !== 0)(
  `nothing that was acknowledged is lost by ${LOSSES} losses of power, and no effect of a key happens twice`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tool-hub-power-'))
    const disk = join(folder, 'disk')
    const imageAt = (loss: number | 'live') => join(folder, `${loss}.img`)
    mkdirSync(disk)
    makeImage(imageAt('live'))
    try {
      const losses = await mounted(imageAt('live'), disk, () =>
        work(disk, (loss) => copyImage(imageAt('live'), imageAt(loss))),
      )
      expect(losses).toHaveLength(LOSSES)
      for (const [loss, acknowledged] of losses.entries()) {
        await mounted(imageAt(loss), disk, () => assertKept(disk, acknowledged))
        rmSync(imageAt(loss))
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

const OUTSIDE = 'outside'
const RUN = 'run-of-agent'

const rules: HubOptions['policy'] = [
  { allow: 'test/append' },
  { ask: 'test/note', reason: 'a person looks' },
  { allow: 'read:fs' },
  { allow: 'core/fs.writeText' },
  { deny: 'core/fs.writeText', when: { tainted: true }, reason: 'it has read content from outside' },
]

/** Lets clients work, and loses the power now and then; returns what had been acknowledged each time. */
async function work(disk: string, lose: (loss: number) => void): Promise<Acknowledged[]> {
  mkdirSync(join(disk, 'work'))
  mkdirSync(join(disk, OUTSIDE))
  writeFileSync(join(disk, OUTSIDE, 'page.txt'), 'from outside')
  writeFileSync(join(disk, 'plugin.mjs'), pluginOf(disk))
  writeFileSync(
    join(disk, 'tool-hub.yaml'),
    JSON.stringify({
      version: 1,
      plugins: ['./plugin.mjs'],
      sandbox: { root: './work', roots: [{ path: `./${OUTSIDE}`, mode: 'read', untrusted: true }] },
      policy: rules,
    }),
  )
  execFileSync('sync', ['--file-system', disk])
  return served(disk, async ({ url, token, child }) => {
    const owner = createClient({ url, token })
    const { secret } = await owner.tokens.create({ name: 'agent', scopes: ['call'] })
    writeFileSync(join(disk, 'secret'), secret, { flush: true })
    const acknowledged: Acknowledged = { effects: [], revoked: [], answered: [], schedules: [], tainted: [] }
    const working = new Working(acknowledged)
    const clients = working.start(owner, createClient({ url, token: secret }), join(disk, OUTSIDE, 'page.txt'))
    const losses: Acknowledged[] = []
    while (losses.length < LOSSES) {
      await Promise.race([working.progress(), clients])
      losses.push(structuredClone(acknowledged))
      child.kill('SIGSTOP')
      await stopped(child.pid!)
      lose(losses.length - 1)
      child.kill('SIGCONT')
    }
    working.isOver = true
    await clients
    return losses
  })
}

interface Served {
  readonly url: string
  readonly token: string
  readonly child: ChildProcess
  /** Ends it in good order. */
  end(): Promise<unknown>
}

/** The built service in a process of its own, with its files on the disk and its temporary ones elsewhere; killed at the end. */
async function served<T>(disk: string, use: (service: Served) => Promise<T>): Promise<T> {
  const env = { PATH: process.env.PATH, HOME: disk, TMPDIR: tmpdir() }
  const child = spawn(process.execPath, [CLI_MAIN, 'serve', '--port', '0', '--json'], { cwd: disk, env })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  try {
    const said = await Promise.race([firstLine(child.stdout), exited])
    if (typeof said !== 'string') throw new Error(`The service did not start: ${stderr}`)
    const end = () => {
      child.kill('SIGTERM')
      return exited
    }
    return await use({ ...JSON.parse(said), child, end })
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

/** Clients that do one thing after the other and note what was acknowledged. */
class Working {
  isOver = false
  readonly #acknowledged: Acknowledged
  #turns = 0
  #told = () => {}

  constructor(acknowledged: Acknowledged) {
    this.#acknowledged = acknowledged
  }

  /** Rejects with what went wrong for one of them. */
  async start(owner: HubClient, agent: HubClient, outside: string): Promise<void> {
    const { effects, revoked, answered, schedules, tainted } = this.#acknowledged
    await Promise.all([
      ...['a', 'b'].map((name) =>
        this.#repeat(async (n) => {
          const key = `${name}${n}`
          const result = await agent.call('test/append', { key }, { idempotencyKey: key, run: RUN })
          expect(result.error).toBeUndefined()
          effects.push(key)
        }),
      ),
      this.#repeat(async (n) => {
        const { token, secret } = await owner.tokens.create({ name: `short-${n}`, scopes: ['call'] })
        await owner.tokens.revoke(token.id)
        revoked.push(secret)
      }),
      this.#repeat(async (n) => {
        const text = `note ${n}`
        await agent.call('test/note', { text }, { onAsk: 'return' })
        const decision = n % 2 === 0 ? 'allow' : 'deny'
        for (const { id } of await owner.approvals.list()) {
          expect(await owner.approvals.answer(id, { decision, remember: 'always', covers: 'exact' })).toMatchObject({
            won: true,
          })
          answered.push({ id, decision, text })
        }
      }),
      this.#repeat(async (n) => {
        await owner.schedules.add({
          name: `s${n}`,
          when: { at: '2099-01-01T00:00:00Z' },
          calls: [{ tool: 'core/util.time.now' }],
        })
        schedules.push(`s${n}`)
      }),
      this.#repeat(async (n) => {
        const read = await agent.call('core/fs.readText', { path: outside }, { run: `tainted-${n}` })
        expect(read).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
        tainted.push(`tainted-${n}`)
      }),
    ])
  }

  /** Resolves when everybody has been told something more. */
  async progress(): Promise<void> {
    const until = this.#turns + 6
    while (this.#turns < until)
      await new Promise<void>((resolve) => {
        this.#told = resolve
      })
  }

  async #repeat(turn: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.isOver; n++) {
      await turn(n)
      this.#turns++
      this.#told()
    }
  }
}

/** Starts the service on what the disk had when the power was lost, and asks for everything again. */
async function assertKept(disk: string, acknowledged: Acknowledged): Promise<void> {
  const { effects, revoked, answered, schedules, tainted } = acknowledged
  await served(disk, async ({ url, token, end }) => {
    // A store that lost something that was acknowledged would also be older than `store.generation` says.
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ ok: true })
    const owner = createClient({ url, token })
    const agent = createClient({ url, token: readFileSync(join(disk, 'secret'), 'utf8') })
    for (const key of effects.slice(-LOOKED_AT)) {
      const again = await agent.call('test/append', { key }, { idempotencyKey: key, run: RUN })
      expect(again).toMatchObject({ ok: true, meta: { cached: true } })
    }
    // What was on its way when the power was lost happened once or not at all; asked for again it does not happen twice.
    for (const key of nextKeys(effects)) await agent.call('test/append', { key }, { idempotencyKey: key, run: RUN })
    const done = readFileSync(effectsFile(disk), 'utf8').trimEnd().split('\n')
    expect(done.filter((key, index) => done.indexOf(key) !== index)).toEqual([])
    expect(effects.filter((key) => !done.includes(key))).toEqual([])
    for (const secret of revoked.slice(-LOOKED_AT))
      await expect(createClient({ url, token: secret }).me()).rejects.toMatchObject({ status: 401 })
    for (const { id, decision, text } of answered.slice(-LOOKED_AT)) {
      expect(await owner.approvals.get(id)).toMatchObject({ state: 'answered', answered: { decision } })
      const again = await agent.call('test/note', { text }, { onAsk: 'return' })
      expect(again).toMatchObject(decision === 'allow' ? { ok: true } : { ok: false, status: 'denied' })
    }
    const names = (await owner.schedules.list()).schedules.map(({ name }) => name)
    expect(schedules.filter((name) => !names.includes(name))).toEqual([])
    for (const run of tainted.slice(-LOOKED_AT)) {
      const write = await agent.call('core/fs.writeText', { path: 'x.txt', text: 'x' }, { run })
      expect(write).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    }
    await end()
  })
  const folders = readdirSync(join(disk, 'runs'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name: run } of folders) {
    const { problems } = await verifyRun(join(disk, 'runs', run))
    expect({ run, problems }).toEqual({ run, problems: [] })
  }
}

/** Of each client, the key that follows the last one that was acknowledged. */
function nextKeys(effects: readonly string[]): string[] {
  return ['a', 'b'].map((name) => {
    const last = effects.findLast((key) => key.startsWith(name))
    return `${name}${last === undefined ? 0 : Number(last.slice(1)) + 1}`
  })
}

const effectsFile = (disk: string) => join(disk, 'effects.txt')

const pluginOf = (disk: string) => `
import { appendFileSync } from 'node:fs'
export default {
  name: 'test',
  tools: [
    {
      name: 'test/append',
      description: 'Has an effect that can be counted.',
      input: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      capabilities: ['write:fs'],
      execute: ({ key }) => { appendFileSync(${JSON.stringify(effectsFile(disk))}, key + '\\n', { flush: true }); return 'done' },
    },
    {
      name: 'test/note',
      description: 'Is asked for.',
      input: { type: 'object' },
      capabilities: ['remote'],
      execute: () => 'noted',
    },
  ],
}
`

function makeImage(path: string): void {
  execFileSync('truncate', ['--size', '96M', path])
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', path])
}

function copyImage(from: string, to: string): void {
  execFileSync('cp', ['--sparse=always', '--reflink=auto', from, to])
}

/** Nothing is written back by time, so that what was not synced is not there. */
async function mounted<T>(image: string, disk: string, use: () => Promise<T>): Promise<T> {
  execFileSync('mount', ['-o', 'loop,commit=300', image, disk])
  try {
    return await use()
  } finally {
    // The loop device goes with it.
    execFileSync('umount', [disk])
  }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line
  return undefined
}

/** All threads of a process stand still. */
async function stopped(pid: number): Promise<void> {
  const stateOf = (thread: string) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'))?.[1]
  while (!readdirSync(`/proc/${pid}/task`).every((thread) => stateOf(thread) === 'T'))
    await new Promise((resolve) => setImmediate(resolve))
}
