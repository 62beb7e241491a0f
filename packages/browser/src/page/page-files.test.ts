import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/sandbox-spec.ts'
import type { ActionContext } from '../perform.ts'
import { printPdf, takeScreenshot } from './capture.ts'
import { receiveDownload, uploadFiles } from './element-actions.ts'
import type { Tab } from './tab.ts'

const NEVER = new AbortController().signal

describe('files that are uploaded', () => {
  const upload = async (...sizes: number[]) => {
    const given: number[] = []
    const element = {
      evaluate: async () => true,
      setInputFiles: async (files: { buffer: Buffer; mimeType: string }[]) => {
        given.push(...files.map(({ buffer }) => buffer.length))
      },
    }
    const work = { tab: { element: async () => element }, timeout: 1_000, signal: NEVER } as unknown as ActionContext
    const files = sizes.map((size, at) => ({ name: `f${at}`, bytes: new Uint8Array(size) }))
    await uploadFiles(work, { ref: 'e1', files })
    return given
  }

  it('have 25 MB together at most', async () => {
    expect(await upload(12_500_000, 12_500_000)).toEqual([12_500_000, 12_500_000])
    await expect(upload(12_500_000, 12_500_001)).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The files have 25000001 bytes, the limit is 25000000.',
      fix: { hint: 'Upload fewer or smaller files.' },
    })
  })
})

describe('a file that is downloaded', () => {
  const download = async ({ size = 3, failure = null as string | null, maxBytes = 3 }) => {
    const folder = await folderWith()
    const path = join(folder, 'file')
    await writeFile(path, Buffer.alloc(size, 'x'))
    const deleted: string[] = []
    const coming = {
      path: async () => (failure === null ? path : Promise.reject(new Error(failure))),
      failure: async () => failure,
      suggestedFilename: () => 'n'.repeat(201),
      url: () => 'u'.repeat(2_001),
      cancel: async () => {},
      delete: async () => void deleted.push(path),
    }
    const tab = {
      onDownload: undefined as ((it: unknown) => void) | undefined,
      element: async () => ({ click: async () => tab.onDownload?.(coming) }),
    }
    const work = { tab, run: { chromium: { folder: join(folder, 'none') } }, timeout: 60_000, signal: NEVER }
    const result = await receiveDownload(work as unknown as ActionContext, { ref: 'e1', maxBytes })
    return { ...result, deleted: deleted.length, isWaiting: tab.onDownload !== undefined }
  }

  it('is read, with a bounded name and address, and removed', async () => {
    const { file, from, deleted, isWaiting } = await download({})
    expect([Buffer.from(file.bytes).toString(), file.name, from]).toEqual(['xxx', 'n'.repeat(200), 'u'.repeat(2_000)])
    expect([deleted, isWaiting]).toEqual([1, false])
  })

  it('is refused when it is larger than it may be', async () => {
    await expect(download({ size: 4 })).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The download is over 3 bytes and was stopped.',
      fix: { key: 'browser.download', hint: 'Have the owner raise browser.download, or fetch a part.' },
    })
  })

  it.each([
    ['canceled', ' (canceled)'],
    ['NETWORK_failed', ' (NETWORK_failed)'],
    ['x'.repeat(60), ` (${'x'.repeat(60)})`],
    ['x'.repeat(61), ''],
    ['said: no', ''],
    ['no!', ''],
    ['1no', ''],
  ])('says with %j that it broke off', async (failure, said) => {
    await expect(download({ failure })).rejects.toMatchObject({
      ...{ code: 'UPSTREAM_ERROR', message: `The download broke off${said}.`, fix: { hint: 'Try again.' } },
    })
  })
})

describe('a PDF', () => {
  const print = async (pieces: readonly (readonly [number, boolean])[], stream: string | undefined = 's') => {
    const told: string[] = []
    const left = [...pieces]
    const send = async (method: string, params?: object) => {
      told.push(`${method} ${JSON.stringify(params)}`)
      if (method === 'Page.printToPDF') return { stream }
      if (method !== 'IO.read') return {}
      const [size, eof] = left.shift()!
      return { data: Buffer.alloc(size, 'p').toString('base64'), base64Encoded: true, eof }
    }
    const tab = { session: async () => ({ send }) } as unknown as Tab
    return { pdf: await printPdf(tab).catch((error: Error) => error), told }
  }

  it('is read piece by piece, with its background, and its stream is closed', async () => {
    const { pdf, told } = await print([
      [3, false],
      [2, true],
    ])
    expect(Buffer.from(pdf as Uint8Array).toString()).toBe('ppppp')
    const read = 'IO.read {"handle":"s","size":1000000}'
    expect(told).toEqual([
      'Page.printToPDF {"printBackground":true,"transferMode":"ReturnAsStream"}',
      ...[read, read, 'IO.close {"handle":"s"}'],
    ])
  })

  it('has 20 MB at most', async () => {
    const full = await print([
      [10_000_000, false],
      [10_000_000, true],
    ])
    expect((full.pdf as Uint8Array).length).toBe(20_000_000)
    const over = await print([
      [10_000_000, false],
      [10_000_001, true],
    ])
    expect(over.pdf).toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The PDF has more than 20000000 bytes.',
      fix: { hint: 'Take a screenshot, or a snapshot of the part that you need.' },
    })
    expect(over.told.at(-1)).toMatch(/^IO\.close/)
  })

  it('is missing where the browser gives none', async () => {
    const send = async () => ({})
    const tab = { session: async () => ({ send }) } as unknown as Tab
    await expect(printPdf(tab)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The browser returned no PDF.',
    })
  })
})

describe('a picture', () => {
  const shoot = async ({
    request = {},
    sizes = [10],
    viewport = { width: 800, height: 600 } as object | null,
    metrics = {},
    box = {} as object | null,
  }) => {
    const taken: { type: string; quality?: number; clip: object; fullPage: boolean }[] = []
    const left = [...sizes]
    const page = {
      viewportSize: () => viewport,
      screenshot: async (options: (typeof taken)[number]) => {
        taken.push(options)
        return Buffer.alloc(left.shift()!)
      },
    }
    const tab = {
      page,
      session: async () => ({ send: async () => metrics }),
      element: async () => ({ boundingBox: async () => box }),
    } as unknown as Tab
    return { picture: await takeScreenshot(tab, request, { timeout: 1_000, signal: NEVER }), taken }
  }

  it('is of what is seen, as PNG', async () => {
    const { picture, taken } = await shoot({})
    expect(picture).toMatchObject({ mediaType: 'image/png', width: 800, height: 600, isCut: false })
    expect(taken).toMatchObject([{ type: 'png', clip: { x: 0, y: 0, width: 800, height: 600 }, fullPage: false }])
    expect(taken[0]).not.toHaveProperty('quality')
    expect(taken[0]).toMatchObject({ animations: 'disabled', caret: 'hide', timeout: 1_000 })
    expect((await shoot({ viewport: null })).picture).toMatchObject({ width: 1_280, height: 720 })
  })

  it('is a JPEG where that is asked for, or a PNG would be over 5 MB', async () => {
    const asked = await shoot({ request: { type: 'jpeg' } })
    expect([asked.picture.mediaType, asked.taken[0]?.quality]).toEqual(['image/jpeg', 70])
    expect((await shoot({ sizes: [5_000_000] })).picture.mediaType).toBe('image/png')
    const large = await shoot({ sizes: [5_000_001, 5_000_000] })
    expect([large.picture.mediaType, large.picture.bytes.length]).toEqual(['image/jpeg', 5_000_000])
    await expect(shoot({ sizes: [5_000_001, 5_000_001] })).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The picture has 5000001 bytes, the limit is 5000000.',
      fix: { hint: 'Make a picture of one element by its ref, or of the visible part only.' },
    })
  })

  it.each([
    [4_000, 2_000, 4_000, 2_000, false],
    [4_001, 100, 4_000, 100, true],
    [800, 10_000, 800, 10_000, false],
    [800, 10_001, 800, 10_000, true],
    [800.4, 600.4, 801, 601, false],
    [0, 0, 1, 1, false],
  ])('of a page of %d by %d pixels has %d by %d', async (width, height, wide, high, isCut) => {
    const metrics = { cssContentSize: { width, height } }
    const { picture, taken } = await shoot({ request: { isFullPage: true }, metrics })
    expect(picture).toMatchObject({ width: wide, height: high, isCut })
    expect(taken[0]).toMatchObject({ fullPage: true, clip: { x: 0, y: 0, width: wide, height: high } })
  })

  it('of an element is where it is on the page', async () => {
    const metrics = { cssVisualViewport: { pageX: 5, pageY: 100 } }
    const box = { x: 10, y: 20, width: 30, height: 40 }
    const { taken } = await shoot({ request: { ref: 'e1' }, metrics, box })
    expect(taken[0]).toMatchObject({ fullPage: true, clip: { x: 15, y: 120, width: 30, height: 40 } })
    const outside = await shoot({ request: { ref: 'e1' }, metrics, box: { ...box, x: -50, y: -500 } })
    expect(outside.taken[0]!.clip).toMatchObject({ x: 0, y: 0 })
    await expect(shoot({ request: { ref: 'e1' }, metrics, box: null })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The element e1 is not shown, so it has no picture.',
      fix: { hint: 'Take a new snapshot, or a picture of the whole page.' },
    })
  })
})
