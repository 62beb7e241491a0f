import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolResult } from '../packages/core/src/call.ts'
import type { Hub } from '../packages/runtime/src/hub/hub.ts'
import { FILES_LEVEL } from './support/files-level.ts'
import { type RaceFolders, startRace } from './support/race-folders.ts'

const AT_ONCE = 50
const numbers = Array.from({ length: AT_ONCE }, (_, index) => index)
const NAMES = ['x.txt', 'w.txt', ...numbers.flatMap((n) => [`gone-${n}.txt`, `from-${n}.txt`])]

let race: RaceFolders
let hub: Hub

/**
 * Without descriptors a call goes through only when nothing was exchanged for a while: fewer calls, and an attacker who
 * rests in between, which is when a change can be led elsewhere at all.
 */
const IS_PATHS = FILES_LEVEL === 'paths'
const PACE = IS_PATHS ? { share: 10, pauseMs: 500 } : { share: 1, pauseMs: 0 }

beforeEach(async () => {
  race = await startRace(NAMES, PACE)
  // No records: they would be most of the time, and the guard is the same.
  hub = createToolHub({
    sandbox: { root: race.root },
    policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }],
    runs: false,
    data: race.data,
  })
})

afterEach(async () => {
  await hub.close()
  await race.stop()
})

interface Tally {
  calls: number
  inside: number
  refused: number
  leaks: number
  /** Rounds after which something outside was not what it had been. */
  changed: number
  /** Rounds in which the folder outside got or lost a name, also one that came and went. */
  touched: number
  readonly codes: Set<string>
}

/** Calls in rounds of fifty, each round a run of its own: a hub stops a run that repeats a failing call. */
async function callOften(tool: string, count: number, input: (n: number, round: number) => unknown, before = () => {}) {
  const tally: Tally = { calls: 0, inside: 0, refused: 0, leaks: 0, changed: 0, touched: 0, codes: new Set() }
  let outside = look()
  const rounds = count / PACE.share / AT_ONCE
  for (let round = 0; round < rounds || (tally.inside === 0 && round < 100 * rounds); round += 1) {
    before()
    const run = `round-${round}`
    const results = await Promise.all(numbers.map((n) => hub.callDynamic(tool, input(n, round), { run })))
    for (const result of results) add(tally, result)
    await hub.endRun(run)
    const now = look()
    if (now.names !== outside.names) tally.changed += 1
    if (now.touched !== outside.touched) tally.touched += 1
    outside = now
  }
  publish(tool, tally)
  return tally
}

function look() {
  return { names: race.outside().join('\n'), touched: race.touched() }
}

function add(tally: Tally, result: ToolResult): void {
  tally.calls += 1
  if (JSON.stringify(result).includes('SECRET')) tally.leaks += 1
  if (result.ok) tally.inside += 1
  else tally.codes.add(result.error.code)
  if (!result.ok) tally.refused += 1
}

/** The rate at which calls were led outside, for people: docs/reference/files.md says what it was. */
function publish(tool: string, { calls, inside, leaks, changed, touched }: Tally): void {
  const rates = `${leaks} results from outside, ${changed} rounds with changes outside, ${touched} with drafts`
  console.info(`race at level ${FILES_LEVEL}: ${tool}: ${calls} calls, ${inside} went through, ${rates}`)
}

/** Both happened, so the exchange was really in the way, and nothing but the guard's own refusals came back. */
const raced = {
  leaks: 0,
  changed: IS_PATHS ? expect.any(Number) : 0,
  touched: IS_PATHS ? expect.any(Number) : 0,
  inside: expect.toSatisfy((count: number) => count > 0, 'some calls went through'),
  refused: expect.toSatisfy((count: number) => count > 0, 'some calls were refused'),
  codes: expect.toSatisfy((codes: Set<string>) => !codes.has('INTERNAL') && !codes.has('LOOP_DETECTED'), 'typed'),
}

describe('while a folder and a link to the outside are exchanged all the time', () => {
  it(`${50_000 / PACE.share} reads read nothing outside`, async () => {
    expect(await callOften('core/fs.readText', 50_000, () => ({ path: 'd/x.txt' }))).toMatchObject(raced)
  })

  it(`${10_000 / PACE.share} writes write nothing outside`, async () => {
    const input = (n: number, round: number) =>
      n % 2 === 0
        ? { path: 'd/w.txt', text: `round ${round}`, overwrite: true }
        : { path: `d/new/${n}-${round % 10}.txt`, text: 'new' }
    const clear = () => rmSync(race.inside('new'), { recursive: true, force: true })
    expect(await callOften('core/fs.writeText', 10_000, input, clear)).toMatchObject(raced)
  })

  it(`${10_000 / PACE.share} deletes delete nothing outside`, async () => {
    const input = (n: number) => ({ path: `d/gone-${n}.txt`, confirm: true })
    const refill = () => {
      for (const n of numbers) writeFileSync(race.inside(`gone-${n}.txt`), 'in')
    }
    expect(await callOften('core/fs.deletePath', 10_000, input, refill)).toMatchObject(raced)
  })

  it(`${10_000 / PACE.share} moves, out of the folder, into it and within it, move nothing outside`, async () => {
    const input = (n: number) =>
      [
        { from: `d/from-${n}.txt`, to: `kept-${n}.txt` },
        { from: `own-${n}.txt`, to: `d/to-${n}.txt` },
        { from: `d/from-${n}.txt`, to: `d/to-${n}.txt` },
      ][n % 3]
    const refill = () => {
      for (const n of numbers) {
        writeFileSync(race.inside(`from-${n}.txt`), 'in')
        writeFileSync(join(race.root, `own-${n}.txt`), 'in')
        rmSync(race.inside(`to-${n}.txt`), { force: true })
        rmSync(join(race.root, `kept-${n}.txt`), { force: true })
      }
    }
    expect(await callOften('core/fs.move', 10_000, input, refill)).toMatchObject(raced)
  })

  it(`${10_000 / PACE.share} new folders are not made outside`, async () => {
    const clear = () => rmSync(race.inside('m'), { recursive: true, force: true })
    expect(await callOften('core/fs.mkdir', 10_000, (n) => ({ path: `d/m/${n}/deep` }), clear)).toMatchObject(raced)
  })
})
