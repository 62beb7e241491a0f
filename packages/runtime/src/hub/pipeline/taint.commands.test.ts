import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandReach } from '@tool-hub/sandbox/exec'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { UntrustedFiles } from '../../store/untrusted-files.ts'
import type { RunState } from '../run-state.ts'
import { Call } from './call.ts'
import { CommandTaint } from './taint.ts'

/** A run as far as taint goes; `lines` is what is on record. */
function runOf() {
  const [listeners, tainters, lines] = [new Set<() => void>(), new Set<string>(), [] as unknown[]]
  const run = {
    get tainted() {
      return tainters.size > 0
    },
    taint(callId: string) {
      const isNew = tainters.size === 0
      tainters.add(callId)
      if (isNew) for (const listener of listeners) listener()
    },
    taintedBeside: (callId: string) => [...tainters].some((id) => id !== callId),
    onTaint(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    hold: {},
    records: { append: (line: unknown) => lines.push(line) },
  }
  return { run: run as unknown as RunState, lines, listeners }
}

let calls = 0
const newCall = () => new Call({ id: `c${++calls}`, run: 'r', wire: 'exec', caller: 'c', options: {}, input: {} })

function world() {
  const folder = temporaryFolder()
  const untrusted = new UntrustedFiles(join(folder, 'untrusted'))
  const taint = new CommandTaint(untrusted)
  const reach = (more: Partial<CommandReach> = {}): CommandReach => ({
    sees: [folder],
    writes: [],
    hidden: [],
    untrusted: [],
    sandbox: 'full',
    ...more,
  })
  return { folder, untrusted, taint, reach }
}

describe('the run of a command', () => {
  it.each<[string, (folder: string) => Partial<CommandReach>, RegExp | undefined]>([
    ['is in a sandbox', () => ({}), undefined],
    [
      'has no sandbox',
      () => ({ sandbox: 'none' }),
      /everything that this machine can reach, because commands run without a sandbox/,
    ],
    ['sees a root that is not trusted', (at) => ({ untrusted: [at] }), /, a root that is marked untrusted/],
    ['sees a labelled file', (at) => ({ sees: [join(at, 'in')] }), /in\/a\.txt, which holds content from outside/],
    ['does not see it', (at) => ({ sees: [join(at, 'out')] }), undefined],
    ['sees it, but it is hidden', (at) => ({ sees: [at], hidden: [join(at, 'in')] }), undefined],
  ])('that %s: tainted where it could read something from outside', async (name, more, reason) => {
    const { folder, untrusted, taint, reach } = world()
    mkdirSync(join(folder, 'in'))
    writeFileSync(join(folder, 'in/a.txt'), 'from outside')
    if (name.includes('see')) untrusted.add(join(folder, 'in/a.txt'))
    const [{ run, lines }, call] = [runOf(), newCall()]
    const isTried = name !== 'sees a root that is not trusted'
    const leave = await taint.enter(run, call, reach({ ...(isTried ? {} : { sees: [] }), ...more(folder) }))
    expect([run.tainted, call.report.isUntrusted]).toEqual([reason !== undefined, reason !== undefined])
    if (reason) {
      expect(lines).toEqual([
        { type: 'command-tainted', callId: call.id, tool: 'exec', reason: expect.stringMatching(reason) },
      ])
      expect(call.report.notices).toEqual([
        expect.stringMatching(/^The command could read .* is now tainted, so sending data needs approval\.$/),
      ])
      // The command itself is judged as one of a tainted run, too.
      expect(run.taintedBeside(call.id)).toBe(true)
    } else expect([lines, call.report.notices]).toEqual([[], []])
    leave()
  })

  it('is tainted while it runs by a file that is labelled then, and not after it has ended', async () => {
    const { folder, untrusted, taint, reach } = world()
    const [{ run, lines }, other, call] = [runOf(), runOf(), newCall()]
    const leave = await taint.enter(run, call, reach())
    const leaveOther = await taint.enter(other.run, newCall(), reach({ sees: [join(folder, 'out')] }))
    untrusted.add(join(folder, 'a.txt'))
    expect([run.tainted, other.run.tainted, call.report.isUntrusted]).toEqual([true, false, true])
    untrusted.add(join(folder, 'b.txt'))
    expect(lines).toHaveLength(1)
    leaveOther()
    untrusted.add(join(folder, 'out/c.txt'))
    expect(other.run.tainted).toBe(false)
    leave()
  })

  it('that is tainted already is not notified, but the result of its call is labelled', async () => {
    const { taint, reach } = world()
    const [{ run, lines }, call] = [runOf(), newCall()]
    run.taint('caller', 'caller')
    const leave = await taint.enter(run, call, reach({ sandbox: 'none' }))
    expect([call.report.isUntrusted, lines, call.report.notices]).toEqual([true, [], []])
    leave()
  })

  it('is on record but not in the notices of a call that is over', async () => {
    const { taint, reach } = world()
    const [{ run, lines }, call] = [runOf(), newCall()]
    call.end()
    const leave = await taint.enter(run, call, reach({ sandbox: 'none' }))
    expect([lines.length, call.report.notices]).toEqual([1, []])
    leave()
  })
})

describe('what a command changes', () => {
  it('is labelled where its run is tainted, until it has ended', async () => {
    const { folder, untrusted, taint, reach } = world()
    const { run, listeners } = runOf()
    run.taint('caller', 'caller')
    const leave = await taint.enter(run, newCall(), reach({ writes: [folder] }))
    const began = await untrusted.find(reach())
    expect(began).toBe(folder)
    leave()
    expect(listeners.size).toBe(0)
  })

  it('is labelled from when its run becomes tainted, and taints those who see it', async () => {
    const { folder, taint, reach } = world()
    const [one, other, apart] = [runOf(), runOf(), runOf()]
    const [first, second, third, fourth] = [newCall(), newCall(), newCall(), newCall()]
    const leaves = [
      await taint.enter(one.run, first, reach({ writes: [folder] })),
      await taint.enter(one.run, second, reach()),
      await taint.enter(other.run, third, reach()),
      await taint.enter(apart.run, fourth, reach({ sees: [join(folder, 'x')], hidden: [folder] })),
    ]
    one.run.taint('caller', 'caller')
    expect(other.lines).toMatchObject([
      { reason: `${folder}, where a command of a tainted run writes at the same time` },
    ])
    expect([other.run.tainted, apart.run.tainted]).toEqual([true, false])
    expect([first, second, third, fourth].map(({ report: { isUntrusted } }) => isUntrusted)).toEqual([
      false,
      true,
      true,
      false,
    ])
    for (const leave of leaves) leave()
  })

  it('is not labelled where its run stays clean', async () => {
    const { folder, untrusted, taint, reach } = world()
    const leave = await taint.enter(runOf().run, newCall(), reach({ writes: [folder] }))
    expect(await untrusted.find(reach())).toBeUndefined()
    leave()
    expect(await untrusted.find(reach())).toBeUndefined()
  })
})

it('a command that cannot start is forgotten', async () => {
  const { folder, untrusted, taint, reach } = world()
  const [{ run, listeners }, broken] = [runOf(), new Error('no disk')]
  untrusted.synced = () => Promise.reject(broken)
  await expect(taint.enter(run, newCall(), reach())).rejects.toBe(broken)
  expect(listeners.size).toBe(0)
  untrusted.add(join(folder, 'a.txt'))
  expect(run.tainted).toBe(false)
})
