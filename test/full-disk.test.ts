import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createToolHub } from '../src/create-tool-hub.ts'
import { defineTool } from '../src/define.ts'
import { verifyRun } from '../src/record/verify-run.ts'

const effect = defineTool({
  name: 'disk.effect',
  description: 'Has an effect, for tests.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['remote'],
  execute: () => 'done',
})
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
      tools: [effect, pure],
      runs: folder,
      data: folder,
      run: 'full',
      policy: [{ allow: 'remote' }],
    })
    try {
      expect((await hub.call(effect, { text: 'x' })).ok).toBe(true)
      fill(join(folder, 'ballast'))
      const text = 'x'.repeat(1_500)
      const told = []
      for (let i = 0; i < 4; i++) told.push(await hub.call(pure, { text }))
      expect(told.every(({ ok }) => ok)).toBe(true)
      expect(told.at(-1)!.meta.notices?.join()).toContain('not on disk yet')
      const refused = await hub.call(effect, { text })
      expect(refused).toMatchObject({ status: 'denied', error: { code: 'RECORDS_UNAVAILABLE', retryable: true } })
      rmSync(join(folder, 'ballast'))
      expect((await hub.call(pure, { text })).meta.notices).toBeUndefined()
      expect((await hub.call(effect, { text })).ok).toBe(true)
      await hub.close()
      expect(await verifyRun(join(folder, 'full'))).toMatchObject({ ok: true, calls: 8 })
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
