import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FileHub, fileHub } from '../../../../../test/support/file-hub.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import { defineTool } from '../../../../core/src/tool.ts'

const LINES = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}`)

const report = defineTool({
  name: 'demo.report',
  description: 'Writes a long report, for tests.',
  input: z.strictObject({}),
  execute: () => LINES.join('\n'),
})

/** A hub whose run has a result that was cut, and the reference of the whole. */
async function cut(options: HubOptions = {}): Promise<FileHub & { readonly ref: string }> {
  const files = fileHub({}, { tools: [report], ...options })
  const { meta } = await files.call('demo.report', {})
  return { ...files, ref: meta.truncated!.artifact! }
}

describe('an artifact of the same run', () => {
  it('is read page by page by the reference that a result names', async () => {
    const { call, text, ref } = await cut()
    expect(await text('read', { path: ref, offset: 10_000, limit: 2 })).toContain('10001\tline 10001')
    expect(await text('read_file', { path: ref, start_line: 5, end_line: 6 })).toMatch(/^line 5\nline 6\n/)
    const whole = await call('core/fs.readText', { path: ref })
    expect(whole).toMatchObject({ ok: true, data: { path: ref, text: LINES.join('\n') } })
    expect(whole.meta.labels).toBeUndefined()
  })

  it('is searched like a file', async () => {
    const { text, ref } = await cut()
    expect(await text('grep', { pattern: '^line 1999\\d$', path: ref, headLimit: 2 })).toContain(
      `${ref}:19990:line 19990`,
    )
    expect(await text('core/fs.searchText', { root: ref, query: 'line 20000' })).toBe(`${ref}:20000:line 20000`)
  })

  it('needs no rule that allows reading files, and obeys rules on the tool', async () => {
    const closed = await cut({ policy: [{ deny: 'read:fs' }] })
    expect((await closed.call('read', { path: closed.ref })).ok).toBe(true)
    expect((await closed.call('read', { path: 'a.txt' })).error?.code).toBe('POLICY_DENIED')
    const denied = await cut({ policy: [{ deny: 'core/fs.readText' }] })
    expect((await denied.call('read', { path: denied.ref })).error?.code).toBe('POLICY_DENIED')
  })

  it('is labelled untrusted when the run has read content from outside', async () => {
    const { hub, ref } = await cut()
    await hub.callDynamic('demo.report', {}, { untrusted: true })
    const read = await hub.callDynamic('read', { path: ref, limit: 1 })
    expect(read.meta.labels).toEqual(['untrusted'])
    const found = await hub.callDynamic('grep', { pattern: 'line 7$', path: ref })
    expect(found.meta.labels).toEqual(['untrusted'])
  })

  it('is refused when it was changed after it was stored', async () => {
    const { hub, call, ref } = await cut()
    const [run] = readdirSync(join(hub.folder, 'runs'))
    writeFileSync(join(hub.folder, 'runs', run!, 'artifacts', ref.slice('artifact:'.length)), 'another text')
    expect((await call('core/fs.readText', { path: ref })).error?.code).toBe('CONFLICT')
  })
})

describe('an artifact that is not there', () => {
  it('belongs to another run, or to none', async () => {
    const { hub, ref } = await cut()
    const unknown = `artifact:${'0'.repeat(64)}`
    for (const [tool, input] of [
      ['read', { path: ref }],
      ['core/fs.readText', { path: ref }],
      ['grep', { pattern: 'line', path: ref }],
    ] as const) {
      const other = await hub.callDynamic(tool, input, { run: 'another' })
      expect(other.error).toMatchObject({ code: 'NOT_FOUND', message: `This run has no ${ref}.` })
    }
    expect((await hub.callDynamic('read', { path: unknown })).error?.message).toBe(`This run has no ${unknown}.`)
  })

  it('cannot be reached by another spelling, nor written', async () => {
    const { call, ref } = await cut()
    for (const path of [`${ref}/..`, `${ref}x`, `./${ref}`, ref.toUpperCase(), 'artifact:../logs'])
      expect((await call('read', { path })).ok, path).toBe(false)
    expect((await call('write', { path: ref, content: 'x' })).data).not.toHaveProperty('artifact')
    expect((await call('core/fs.readText', { path: ref })).data).toMatchObject({ text: LINES.join('\n') })
  })

  it('is said to be missing by a hub without records', async () => {
    const { call } = fileHub({}, { runs: false })
    expect((await call('read', { path: `artifact:${'a'.repeat(64)}` })).error?.code).toBe('NOT_FOUND')
  })
})
