import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'

const effect = defineTool({
  name: 'disk.effect',
  description: 'Has an effect, for tests.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['remote'],
  execute: () => 'done',
})
const own = defineTool({
  name: 'disk.own',
  description: 'Acts without its handle, as a tool may that is not built in.',
  input: z.strictObject({}),
  capabilities: ['write:fs'],
  execute: () => ++ownEffects,
})
let ownEffects = 0
const pure = defineTool({
  name: 'disk.pure',
  description: 'Has none, for tests.',
  input: z.strictObject({ text: z.string() }),
  execute: () => 'done',
})

it.skipIf(process.getuid?.() !== 0)(
  'a full disk refuses effects, loses nothing, and is forgotten when there is room again',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tool-hub-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
    const hub = createToolHub({
      tools: [effect, own, pure],
      runs: folder,
      data: folder,
      run: 'full',
      policy: [{ allow: 'remote' }, { allow: 'write:fs' }],
    })
    const ada = hub.as({ name: 'ada' })
    const first = () => ada.callDynamic('disk.pure', { text: '' }, { run: 'new' })
    try {
      expect((await hub.call(effect, { text: 'x' })).ok).toBe(true)
      fill(join(folder, 'ballast'))
      // A run that cannot even say whose it is does not begin.
      expect(await first()).toMatchObject({ ok: false })
      const text = 'x'.repeat(1_500)
      const told = []
      for (let i = 0; i < 4; i++) told.push(await hub.call(pure, { text }))
      expect(told.every(({ ok }) => ok)).toBe(true)
      expect(told.at(-1)!.meta.notices?.join()).toContain('not on disk yet')
      const refused = await hub.call(effect, { text })
      expect(refused).toMatchObject({ status: 'denied', error: { code: 'RECORDS_UNAVAILABLE', retryable: true } })
      expect(await hub.call(own, {})).toMatchObject({ error: { code: 'RECORDS_UNAVAILABLE' } })
      expect(ownEffects).toBe(0)
      rmSync(join(folder, 'ballast'))
      expect(await first()).toMatchObject({ ok: true })
      expect((await hub.call(pure, { text })).meta.notices).toBeUndefined()
      expect((await hub.call(effect, { text })).ok).toBe(true)
      await hub.close()
      expect(await verifyRun(join(folder, 'full'))).toMatchObject({ ok: true, calls: 9 })
      expect(await verifyRun(join(folder, 'new'))).toMatchObject({ ok: true, calls: 1 })
    } finally {
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

it.skipIf(process.getuid?.() !== 0)(
  'a full disk lets no taint be cleared, and no content be used whose taint it cannot take',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tool-hub-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
    const open = () =>
      createToolHub({
        tools: [effect, pure],
        runs: folder,
        data: folder,
        run: 'full',
        policy: [{ allow: 'remote' }, { deny: 'disk.pure', when: { tainted: true } }],
      })
    const why = { by: 'user:ada', reason: 'I have read it.' }
    let hub = open()
    const isTainted = async (run = 'full') => !(await hub.call(pure, { text: '' }, { run })).ok
    try {
      await hub.call(effect, { text: 'x' })
      expect([await isTainted(), await isTainted('clean')]).toEqual([true, false])
      fill(join(folder, 'ballast'))
      // The last page of each record has some room.
      for (const run of ['full', 'clean'])
        for (let i = 0; i < 4; i++) await hub.call(pure, { text: 'x'.repeat(1_500) }, { run })
      await expect(hub.clearTaint('full', why)).rejects.toMatchObject({
        code: 'RECORDS_UNAVAILABLE',
        retryable: true,
      })
      const untrusted = await hub.call(pure, { text: '' }, { run: 'clean', untrusted: true })
      expect(untrusted).toMatchObject({ ok: false })
      expect([await isTainted(), await isTainted('clean')]).toEqual([true, true])
      rmSync(join(folder, 'ballast'))
      await hub.close()
      hub = open()
      expect([await isTainted(), await isTainted('clean')]).toEqual([true, true])
      expect((await hub.clearTaint('full', why)).sources).toHaveLength(1)
      expect(await isTainted()).toBe(false)
      await hub.close()
    } finally {
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

/** Takes all the room there is, to the last byte. */
function fill(file: string): void {
  for (const size of [65_536, 4_096, 512, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Full for pieces of this size.
    }
  }
}
