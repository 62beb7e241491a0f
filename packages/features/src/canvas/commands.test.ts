import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { useCliHere } from '../../../../test/support/cli-here.ts'
import { withHub } from '../../../tool-hub/src/cli/hub/with-hub.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-cli-canvas-'))
const config = join(folder, 'tool-hub.yaml')
writeFileSync(config, 'sandbox: { root: . }\nruns: ./runs\ndata: ./kept\ncanvas: { content: 1KB, perRun: 2 }\n')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command line in this process. */
const { run } = useCliHere('canvas', config)

/** What an agent shows. */
const present = (content: string, more = {}) =>
  withHub({ config }, async (hub) => {
    const input = { action: 'present', canvas: 'notes', kind: 'markdown', content, ...more }
    const { data, error } = await hub.callDynamic('core/canvas', input, { run: 'r1' })
    if (error) return error.code
    return (data as { canvas: { id: string } }).canvas.id
  })

describe('tool-hub canvas', () => {
  it('lists, shows, saves and hides what agents show, by the limits of the config', async () => {
    expect((await run()).stderr).toContain('There are no canvases')
    const id = await present('# One', { title: 'My \u001b[31mnotes' })
    await present('# Two')
    expect(await present('x'.repeat(1_001))).toBe('FILE_TOO_LARGE')

    const { stdout } = await run('list')
    expect(stdout).toContain(`${id}  markdown  notes  version 2`)
    expect(stdout).toContain('My \\u{1b}[31mnotes')
    expect(JSON.parse((await run('list', '--json', '--run', 'r1')).stdout)).toMatchObject([{ id, latest: { n: 2 } }])
    expect((await run('list', '--run', 'r2')).stderr).toContain('There are no canvases')

    const shown = await run('show', id)
    expect(shown.stdout).toContain('markdown, notes')
    expect(shown.stdout.match(/artifact:/g)).toHaveLength(2)
    expect(JSON.parse((await run('show', id, '--json')).stdout).versions).toHaveLength(2)

    const [file, page] = [join(folder, 'one.md'), join(folder, 'two.html')]
    expect(await run('save', id, '--of-version', '1', '--out', file)).toMatchObject({ code: 0 })
    expect(await readFile(file, 'utf8')).toBe('# One')
    expect(await run('save', id, '--page', '--out', page, '--json')).toMatchObject({ code: 0 })
    expect(await readFile(page, 'utf8')).toMatch(/<iframe sandbox="allow-scripts".*# Two/s)

    expect((await run('hide', id)).stdout).toBe(`Hid ${id}.\n`)
    expect((await run()).stderr).toContain('There are no canvases')
    expect((await run('list', '--all')).stdout).toContain('hidden')
  })

  it('says what is wrong', async () => {
    const out = join(folder, 'none')
    for (const words of [
      ['show', 'x'],
      ['hide', 'x'],
      ['save', 'x', '--out', out],
    ]) {
      const { code, stderr } = await run(...words)
      expect(code).not.toBe(0)
      expect(stderr).toContain('Canvas "x" not found.')
    }
    const id = await present('# Three', { canvas: 'other' })
    expect((await run('save', id, '--out', out, '--of-version', 'two')).stderr).toContain('Invalid version "two"')
    expect((await run('save', id, '--out', out, '--of-version', '7')).stderr).toContain('no version 7')
    expect((await run('save', id, '--out', config)).stderr).toContain('is there already')
    expect(existsSync(out)).toBe(false)
  })
})
