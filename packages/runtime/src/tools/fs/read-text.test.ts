import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { readText } from './read-text.ts'
import { writeText } from './write-text.ts'

type Files = Record<string, string | Uint8Array>
const hubOf = (files: Files, options = {}) => fileHub(files, { tools: [readText], ...options })
const READ = 'core/fs.readText'
const numbered = (length: number) => Array.from({ length }, (_, index) => `line ${index + 1}\n`).join('')
// A red dot of one pixel.
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

describe('core/fs.readText', () => {
  it('gives the text, the bytes and evidence of them', async () => {
    const { call } = hubOf({ 'a.txt': 'héllo\n' })
    const result = await call(READ, { path: 'a.txt' })
    expect(result.data).toEqual({ path: 'a.txt', text: 'héllo\n', bytes: 7 })
    expect(result.content).toEqual([{ type: 'text', text: 'héllo\n' }])
    expect(result.evidence).toEqual([
      {
        type: 'file',
        ref: 'a.txt',
        summary: expect.stringMatching(/^7 bytes, sha256 of the first 20 lines [0-9a-f]{64}$/),
      },
    ])
  })

  it('reads UTF-8 and UTF-16 with their marks, and says so', async () => {
    const { call, text } = hubOf({ 'bom.txt': '\ufeffhi', 'utf16.txt': Buffer.from('\ufeffhi', 'utf16le') })
    expect((await call(READ, { path: 'bom.txt' })).data).toEqual({
      path: 'bom.txt',
      text: 'hi',
      bytes: 5,
      encoding: 'utf-8-bom',
    })
    expect(await text(READ, { path: 'utf16.txt' })).toBe('hi\n\n[The file is UTF-16LE.]')
  })

  it('reads 5 MiB, and up to the 10 MiB of its schema if the call asks for it', async () => {
    const { call } = fileHub({ '5mib.txt': 'x'.repeat(5_242_880), '9mb.txt': 'x'.repeat(9_000_000) }, {})
    expect((await call(READ, { path: '5mib.txt' })).ok).toBe(true)
    expect((await call(READ, { path: '9mb.txt', maxBytes: 10_485_760 })).ok).toBe(true)
    const refused = await call(READ, { path: '9mb.txt' })
    expect(refused.error).toMatchObject({ message: expect.stringContaining('the limit is 5242880') })
    expect(refused.error!.fix.hint).toContain('Raise maxBytes (at most 10485760 here).')
  })

  it.each([undefined, 30_000, 5_000])(
    'pages by whole lines that fit, when a model gets %s characters',
    async (outputChars) => {
      const lines = Array.from({ length: 20_000 }, (_, index) => `${index + 1} some line of text here`)
      const { text } = fileHub({ 'log.txt': lines.join('\n') }, { limits: { outputChars } })
      for (const [tool, key, first] of [
        ['read', 'offset', '    1\t1 some'],
        ['core/fs.readText', 'offset', '1 some'],
      ] as const) {
        const shown = await text(tool, { path: 'log.txt', ...(tool === 'read' ? {} : { maxBytes: 10_000_000 }) })
        expect(shown.length).toBeLessThanOrEqual(outputChars ?? 30_000)
        expect(shown.trimStart().startsWith(first.trimStart())).toBe(true)
        const next = Number(new RegExp(`Use ${key}=(\\d+) to read on`).exec(shown)?.[1])
        expect(shown).toContain(`${next - 1} some line of text here\n`)
        expect(shown).not.toContain(`${next} some line`)
        expect(await text(tool, { path: 'log.txt', [key]: next, limit: 1 })).toContain(`${next} some line`)
      }
    },
  )

  it.each(['a\nb\n', 'a\nb', 'a\r\nb\r\n', '\ufeffa\n', '\n', ''])(
    'gives all of %j by the name read_file',
    async (content) => {
      const { text } = fileHub({ 'a.txt': content }, {})
      const shown = await text('read_file', { path: 'a.txt' })
      const note = content.startsWith('\ufeff') ? '\n[The file is UTF-8 with a byte order mark.]' : ''
      expect(shown).toBe(content === '' ? '[The file is empty.]' : `${content.replace('\ufeff', '')}${note}`)
    },
  )

  it('names the key of the limit that the owner has set, or the rule', async () => {
    const files = { 'a.txt': 'x'.repeat(6_000) }
    const bound = await fileHub(files, { limits: { readBytes: 5_000 } }).call(READ, { path: 'a.txt', maxBytes: 9_000 })
    expect(bound.error!.fix.hint).toContain('have the owner raise limits.read')
    const policy = [{ allow: 'read:fs' as const, limit: { maxBytes: 5_000 } }]
    const ruled = await fileHub(files, { policy }).call(READ, { path: 'a.txt' })
    expect(ruled.error!.fix.hint).toContain('have the owner raise the size limit of the rule')
  })

  it('gives size, hash, beginning and reference of a file that is too large, and how to read it', async () => {
    const { call } = hubOf({ 'big.txt': numbered(200_000) })
    const result = await call(READ, { path: 'big.txt', maxBytes: 100_000 })
    expect(result.error).toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: expect.stringMatching(
        /has 2288895 bytes, the limit is 100000\. sha256 [0-9a-f]{64}\. The whole is artifact:[0-9a-f]{64}\. It begins: "line 1\\nline 2\\n/,
      ),
      fix: { key: 'offset', value: 1 },
    })
    expect(result.artifacts).toMatchObject([{ name: 'big.txt', bytes: 2_288_895 }])
    expect(result.error!.message.length).toBeLessThan(1_200)
  })

  it('does not count a file as read that was only too large', async () => {
    const { call, read } = fileHub({ 'big.txt': 'x'.repeat(2_000) }, { tools: [readText, writeText] })
    await call(READ, { path: 'big.txt', maxBytes: 1_024 })
    expect((await call('write', { path: 'big.txt', content: '' })).error).toMatchObject({ code: 'POLICY_DENIED' })
    expect(read('big.txt')).toHaveLength(2_000)
  })

  it('needs no records to say that a file is too large', async () => {
    const { call } = hubOf({ 'big.txt': 'x'.repeat(2_000) }, { runs: false })
    expect((await call(READ, { path: 'big.txt', maxBytes: 1_024 })).error?.message).not.toContain('artifact')
  })

  it('shows a model the beginning of a long text and where to go on', async () => {
    const { call, text } = hubOf({ 'a.txt': numbered(10_000) })
    const shown = await text(READ, { path: 'a.txt' })
    const [, next] = /characters left out\. Use offset=(\d+) to read on\.\]$/.exec(shown)!
    expect(shown.length).toBeLessThan(30_200)
    expect(shown).toContain(`line ${Number(next) - 1}\n\n[`)
    expect((await call(READ, { path: 'a.txt', offset: Number(next), limit: 1 })).data).toMatchObject({
      text: `line ${next}`,
    })
  })

  it('reads some lines of a file', async () => {
    const { call } = hubOf({ 'a.txt': numbered(100) })
    expect((await call(READ, { path: 'a.txt', offset: 10, limit: 2 })).data).toEqual({
      path: 'a.txt',
      text: 'line 10\nline 11',
      bytes: 792,
      page: { from: 10, to: 11, totalLines: 100, next: 12 },
    })
  })

  it('reads bytes without cutting characters in two', async () => {
    const { call } = hubOf({ 'a.txt': '😀😀😀' })
    expect((await call(READ, { path: 'a.txt', byteOffset: 2, byteLimit: 8 })).data).toMatchObject({
      text: '😀',
      range: { byteOffset: 4, bytes: 4, next: 8 },
    })
    expect((await call(READ, { path: 'a.txt', byteOffset: 8 })).data).toMatchObject({ text: '😀', range: { bytes: 4 } })
  })

  it.each([
    ['a path outside', { path: '../a.txt' }, 'PATH_OUTSIDE_SANDBOX'],
    ['a path that is missing', { path: 'missing.txt' }, 'NOT_FOUND'],
    ['binary content', { path: 'a.bin' }, 'INPUT_SCHEMA_INVALID'],
    ['too small a limit', { path: 'a.txt', maxBytes: 1_023 }, 'INPUT_SCHEMA_INVALID'],
    ['too large a limit', { path: 'a.txt', maxBytes: 10_485_761 }, 'INPUT_SCHEMA_INVALID'],
    ['an unknown argument', { path: 'a.txt', lines: 3 }, 'INPUT_SCHEMA_INVALID'],
    ['line 0', { path: 'a.txt', offset: 0 }, 'INPUT_SCHEMA_INVALID'],
  ])('refuses %s', async (_, input, code) => {
    const { call } = hubOf({ 'a.txt': 'x', 'a.bin': Buffer.from([0, 1, 2, 0xff]) })
    expect((await call(READ, input)).error).toMatchObject({ code })
  })

  it('advises ls for a folder, whichever way it is read', async () => {
    const { call } = hubOf({ 'folder/a.txt': 'x' })
    const calls = [
      call(READ, { path: 'folder' }),
      call('read', { path: 'folder' }),
      call('read_file', { path: 'folder' }),
      call('read', { path: 'folder', byteOffset: 0 }),
    ]
    for (const { error } of await Promise.all(calls)) expect(error?.fix.hint).toMatch(/^List it with ls/)
  })

  it('stops when it is stopped', async () => {
    const { call } = hubOf({ 'a.txt': 'x' })
    expect((await call(READ, { path: 'a.txt' }, { signal: AbortSignal.abort() })).status).toBe('aborted')
  })
})

describe('read in the coding dialect', () => {
  it('numbers lines and says where to go on', async () => {
    const { text } = hubOf({ 'a.txt': numbered(2_500) })
    const shown = await text('read', { file_path: 'a.txt' })
    expect(shown.startsWith('   1\tline 1\n   2\tline 2\n')).toBe(true)
    expect(shown.endsWith('2000\tline 2000\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to read on.]')).toBe(true)
    expect(await text('read', { filePath: 'a.txt', offset: 2_500 })).toBe(
      '2500\tline 2500\n\n[Showing lines 2500-2500 of 2500.]',
    )
    expect(await text('read', { path: 'a.txt', offset: 3_000 })).toBe(
      '[The file has 2500 lines; there is nothing from line 3000 on.]',
    )
  })

  it('reads a file of another encoding that is named, whole and by pages', async () => {
    const line = Buffer.from([0xb1, 0xa8, 0xb8, 0xe6, 0x0a])
    const { call, text } = hubOf({ 'gbk.txt': Buffer.concat([line, line, line]), 'utf8.txt': '报告\n' } as never)
    const whole = await call('core/fs.readText', { path: 'gbk.txt', encoding: 'GB2312' })
    expect(whole.data).toEqual({ path: 'gbk.txt', text: '报告\n报告\n报告\n', bytes: 15, encoding: 'gbk' })
    expect(await text('read', { path: 'gbk.txt', encoding: 'gbk', offset: 2, limit: 1 })).toMatch(
      /^2\t报告\n\n\[.*offset=3/,
    )
    expect(await text('read_file', { path: 'gbk.txt', encoding: 'gbk', start_line: 3 })).toContain('报告')
    for (const [path, encoding] of [
      ['gbk.txt', 'no-such'],
      ['utf8.txt', 'shift_jis'],
      ['gbk.txt', 'utf-8'],
    ])
      expect((await call('core/fs.readText', { path, encoding })).error).toMatchObject({
        code: 'INPUT_SCHEMA_INVALID',
        fix: { key: 'encoding' },
      })
  })

  it('says that a file is empty, and nothing beside the text of a short one', async () => {
    const { text } = hubOf({ 'empty.txt': '', 'short.txt': 'a\nb\n' })
    expect(await text('read', { path: 'empty.txt' })).toBe('[The file is empty.]')
    expect(await text('read', { path: 'short.txt' })).toBe('1\ta\n2\tb')
  })

  it.each(['x', 'é', '汉'])(
    'shows whole lines up to 29,000 characters, however many bytes they have: %s',
    async (letter) => {
      const { call } = hubOf({ 'a.txt': `${letter.repeat(999)}\n`.repeat(100) })
      const { data, meta } = await call('read', { path: 'a.txt' })
      expect(data).toMatchObject({ page: { from: 1, to: 29, totalLines: 100, next: 30 } })
      expect(meta.truncated).toBeUndefined()
    },
  )

  it('tells how to read a line that is too long, and that works', async () => {
    const { text } = hubOf({ 'a.txt': `short\n${'x'.repeat(60_000)}\nlast\n` })
    expect(await text('read', { path: 'a.txt' })).toBe(
      '1\tshort\n\n[Showing lines 1-1 of 3. Line 2 has 60000 bytes, too many for one page. Use byteOffset=6 byteLimit=25600 to read in it. Use offset=3 to read on after it.]',
    )
    const part = await text('read', { path: 'a.txt', byteOffset: 6, byteLimit: 25_600 })
    expect(part).toBe(`${'x'.repeat(25_600)}\n\n[Showing bytes 6-25606 of 60012. Use byteOffset=25606 to read on.]`)
  })

  it('gives an image as an image, by its content and not its name', async () => {
    const { call } = hubOf({ 'dot.txt': PNG })
    expect(await call('read', { path: 'dot.txt' })).toMatchObject({
      data: { path: 'dot.txt', bytes: PNG.length, image: { mediaType: 'image/png', width: 1, height: 1 } },
      content: [
        { type: 'text', text: 'MEDIA:dot.txt' },
        { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') },
      ],
      evidence: [{ type: 'file', summary: `image/png, 1 x 1 pixels, ${PNG.length} bytes` }],
    })
  })

  it('shows no damaged image and no huge one', async () => {
    const { call } = hubOf({
      'cut.png': PNG.subarray(0, 20),
      'huge.png': Buffer.concat([PNG, Buffer.alloc(5_300_000)]),
    })
    expect((await call('read', { path: 'cut.png' })).error?.message).toMatch(/damaged/)
    expect((await call('read', { path: 'huge.png' })).error).toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('says that a file is binary', async () => {
    const { call } = hubOf({ 'a.bin': Buffer.from([1, 0, 2, 0, 0xff]) })
    expect((await call('read', { path: 'a.bin' })).error?.message).toMatch(/binary/)
  })
})

describe('read_file in the files dialect', () => {
  it('has 10 seconds', () => {
    expect(readText.dialects?.files?.timeoutMs).toBe(10_000)
  })

  it('gives plain lines from start_line to end_line', async () => {
    const { text } = hubOf({ 'a.txt': numbered(5) })
    expect(await text('read_file', { path: 'a.txt' })).toBe('line 1\nline 2\nline 3\nline 4\nline 5\n')
    expect(await text('read_file', { path: 'a.txt', start_line: 2, end_line: 3 })).toBe(
      'line 2\nline 3\n\n[Showing lines 2-3 of 5. Use start_line=4 to read on.]',
    )
  })

  it('gives at most 1 MB and says what is left out', async () => {
    const { call, text } = hubOf({ 'a.txt': `${'x'.repeat(999)}\n`.repeat(1_500) })
    expect((await call('read_file', { path: 'a.txt' })).data).toMatchObject({
      page: { from: 1, to: 1_048, next: 1_049 },
    })
    expect(await text('read_file', { path: 'a.txt' })).toMatch(
      /\[Showing lines 1-1048 of 1500\. Use start_line=1049 to read on\.\]$/,
    )
  })

  it('refuses an end before the start', async () => {
    const { call } = hubOf({ 'a.txt': 'x' })
    expect((await call('read_file', { path: 'a.txt', start_line: 3, end_line: 2 })).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'end_line 2 is before start_line 3.',
    })
  })
})
