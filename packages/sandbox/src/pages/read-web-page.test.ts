import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { readWebPage } from './page-workers.ts'

const { signal } = new AbortController()
const url = 'https://example.com/'
const ROOT = new URL('../../../../', import.meta.url)

/** Each about 5 MB, or as hard to read. */
const HOSTILE: Readonly<Record<string, string>> = {
  '100,000 nested elements': '<div>'.repeat(100_000),
  '5 MB of half a tag': '<a'.repeat(2_500_000),
  '1.6 million links inside each other': '<a>'.repeat(1_600_000),
  'everything unclosed': '<p>a<b>b<i>c<td><ul><li>'.repeat(20_000),
  'a gigantic attribute': `<p style="${'/*'.repeat(2_400_000)}">x`,
  'a tag name of 5 MB': `<${'x'.repeat(4_999_998)}>`,
  'a million entities': '&amp;'.repeat(1_000_000),
  'a million ampersands': '&'.repeat(1_000_000),
  'nothing but null bytes': '\0'.repeat(5_000_000),
  'nothing but blanks': `<p>${' '.repeat(4_900_000)}x`,
  'nothing but characters that Markdown escapes': `<p>${'*_`[]#'.repeat(800_000)}`,
  'nothing but zero-width characters': `<p>${'\u200d'.repeat(4_900_000)}`,
  'comments that never end': '<!--'.repeat(1_250_000),
  'scripts inside scripts': '<script>'.repeat(600_000),
  '200,000 rows': `<table>${'<tr><td>a<td>b'.repeat(200_000)}`,
}

describe('readWebPage', () => {
  it('reads a page as Markdown and as text', async () => {
    const html = '<title>T</title><h2>Head</h2><p>and <b>body</b>'
    expect(await readWebPage(html, { url, as: 'markdown', signal })).toEqual({
      title: 'T',
      text: '## Head\n\nand **body**',
    })
    expect(await readWebPage(html, { url, as: 'text', signal })).toEqual({ title: 'T', text: 'Head\n\nand body' })
  })

  it('returns at most 2 MB', async () => {
    const { text } = await readWebPage(`<p>${'words '.repeat(800_000)}`, { url, as: 'text', signal })
    expect(text.length).toBe(2_000_000)
  })

  it.each(Object.entries(HOSTILE))('survives %s without holding up the process', async (_, html) => {
    let turns = 0
    let next = setImmediate(function turn() {
      turns += 1
      next = setImmediate(turn)
    })
    const result = await readWebPage(html, { url, as: 'markdown', signal, timeoutMs: 100 }).catch((thrown) => thrown)
    clearImmediate(next)
    if (ToolError.is(result)) expect(result).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: false })
    else expect(result.text.length).toBeLessThanOrEqual(2_000_000)
    // This thread went on meanwhile: had it read the page, nobody would have had a turn.
    expect(turns).toBeGreaterThan(0)
    expect(await readWebPage('<p>still here', { url, as: 'text', signal })).toEqual({ text: 'still here' })
  })

  it('keeps the process alive while a page is read, and not a moment longer', async () => {
    const flags = ['--import', new URL('test/support/load-typescript.mjs', ROOT).href]
    const code = `
      import { readWebPage } from ${JSON.stringify(new URL('./page-workers.ts', import.meta.url).href)}
      const { text } = await readWebPage('<p>read', { url: 'https://example.com/', as: 'text', signal: new AbortController().signal })
      console.log(text)
      // A worker without work is kept for ten seconds; a timer that nothing waits for fires only if that keeps the process.
      setTimeout(() => console.log('kept'), 5_000).unref()`
    const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', code])
    const output: Buffer[] = []
    child.stdout.on('data', (chunk) => output.push(chunk))
    const [status] = await once(child, 'close')
    expect({ status, output: Buffer.concat(output).toString() }).toEqual({ status: 0, output: 'read\n' })
  })
})
