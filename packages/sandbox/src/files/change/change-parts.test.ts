import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { allSettled } from '../../../../core/src/lib/async.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { fileAccess } from '../access/choose-access.ts'
import { isDraftName, newDraftName } from '../access/steady-changes.ts'
import { createDraftsLedger } from './drafts-ledger.ts'
import { hashDescriptor, piecesOf } from './place.ts'
import { deleteTree, measureTree, sortedNames, statName, toByteName, toText, treeDigest } from './tree.ts'

let folder: string
const never = new AbortController().signal

beforeEach(() => {
  folder = temporaryFolder('change-parts')
})

/** The folder, open until the test has ended. */
function opened(): number {
  const descriptor = fileAccess.openBase(folder)
  onTestFinished(() => closeSync(descriptor))
  return descriptor
}

describe('the name of a draft', () => {
  it('is another one each time, and known as one', () => {
    const names = Array.from({ length: 50 }, newDraftName)
    expect(new Set(names).size).toBe(50)
    expect(names.every(isDraftName)).toBe(true)
  })

  const name = `.tool-hub-${'0a'.repeat(12)}.tmp`
  it.each([`x${name}`, `${name}x`, `${name}\n`, name.replace('0a', ''), name.replace('0a', '0A'), name.slice(1), ''])(
    'is not %j',
    (other) => {
      expect([isDraftName(name), isDraftName(other)]).toEqual([true, false])
    },
  )
})

describe('the pieces of a file', () => {
  const PIECE = 524_288

  async function pieces(content: Buffer, size = content.length, signal = never) {
    const path = join(folder, 'f')
    writeFileSync(path, content)
    const descriptor = openSync(path, 'r')
    try {
      const found: Buffer[] = []
      for await (const piece of piecesOf(descriptor, size, signal)) found.push(Buffer.from(piece))
      const hash = await hashDescriptor(descriptor, size, signal)
      expect(hash).toBe(sha256(Buffer.concat(found)))
      return found
    } finally {
      closeSync(descriptor)
    }
  }

  it.each([
    [0, []],
    [1, [1]],
    [PIECE, [PIECE]],
    [PIECE + 1, [PIECE, 1]],
    [2 * PIECE + 5, [PIECE, PIECE, 5]],
  ])('of %j bytes are these', async (size, lengths) => {
    const content = Buffer.from(Array.from({ length: size }, (_, at) => at % 251))
    const found = await pieces(content)
    expect(found.map(({ length }) => length)).toEqual(lengths)
    expect(Buffer.concat(found).equals(content)).toBe(true)
  })

  it('are no more than asked for, and no more than there are', async () => {
    expect(String(Buffer.concat(await pieces(Buffer.from('abcdef'), 4)))).toBe('abcd')
    expect(String(Buffer.concat(await pieces(Buffer.from('abc'), 1_000_000)))).toBe('abc')
  })

  it('end with the call', async () => {
    await expect(pieces(Buffer.from('abc'), 3, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await pieces(Buffer.alloc(0), 0, AbortSignal.abort())).toEqual([])
  })
})

it('waits for all work, then fails with the first failure', async () => {
  expect(await allSettled([Promise.resolve(1), 'two'])).toEqual([1, 'two'])
  let isDone = false
  const later = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    isDone = true
  })
  const failing = allSettled([Promise.reject(new Error('first')), Promise.reject(new Error('second')), later])
  await expect(failing).rejects.toThrow('first')
  expect(isDone).toBe(true)
})

describe('a tree', () => {
  const odd = Buffer.concat([Buffer.from('caf'), Buffer.from([0xe9])])

  it('has names by their bytes, sorted', () => {
    for (const name of ['b', 'a', 'é']) writeFileSync(join(folder, name), '')
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), odd]), '')
    const parent = opened()
    expect(sortedNames(parent)).toEqual(['a', 'b', 'caf\xe9', 'Ã©'])
    expect(['Ã©', toByteName('é')].map(toText)).toEqual(['é', 'é'])
    expect(statName(parent, 'caf\xe9').isFile()).toBe(true)
    expect(() => statName(parent, 'none')).toThrow('ENOENT')
  })

  it('is measured: files, bytes, and each entry with the names that lead to it', async () => {
    mkdirSync(join(folder, 'tree/sub'), { recursive: true })
    writeFileSync(join(folder, 'tree/a'), 'xx')
    writeFileSync(join(folder, 'tree/sub/b'), 'yyy')
    const entries: string[] = []
    const onEntry = (names: readonly string[]) => entries.push(names.join('/'))
    const measure = await measureTree(opened(), 'tree', { onEntry })
    expect(measure).toMatchObject({ files: 2, bytes: 5, digest: await treeDigest(join(folder, 'tree')) })
    expect([entries, measure.top.isDirectory()]).toEqual([['', 'a', 'sub', 'sub/b'], true])
  })

  it('may have 256 folders in each other below its top', async () => {
    mkdirSync(join(folder, `ok/${'d/'.repeat(256)}`), { recursive: true })
    expect(await treeDigest(join(folder, 'ok'))).toMatch(/^[0-9a-f]{64}$/)
    mkdirSync(join(folder, `deep/${'d/'.repeat(257)}`), { recursive: true })
    await expect(treeDigest(join(folder, 'deep'))).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: 'The folder has more than 256 folders in each other.',
      fix: { hint: 'Change its parts one after another.' },
    })
  })

  it('is deleted with all below it, and what is gone already counts as deleted', async () => {
    mkdirSync(join(folder, 'tree/sub/empty'), { recursive: true })
    mkdirSync(join(folder, 'kept'))
    for (let number = 0; number < 300; number += 1) writeFileSync(join(folder, `tree/sub/${number}`), '')
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/tree/`), odd]), '')
    const before = countOpenFiles()
    const parent = opened()
    await deleteTree(parent, 'tree')
    await deleteTree(parent, 'tree')
    await deleteTree(parent, 'none')
    expect(readdirSync(folder)).toEqual(['kept'])
    expect(countOpenFiles()).toBe(before + 1)
  })
})

describe('the list of drafts', () => {
  const ledgerIn = (name: string) => {
    const ledger = createDraftsLedger(join(folder, 'data', name))
    const file = () => join(folder, 'data', name, readdirSync(join(folder, 'data', name))[0]!)
    /** Without the line of the owner. */
    const lines = () => readFileSync(file(), 'utf8').trimEnd().split('\n').slice(1)
    return { ledger, file, lines }
  }
  const modeOf = (path: string) => statSync(path).mode & 0o777

  it('is for this user alone, with a name of its own', () => {
    const { ledger, file, lines } = ledgerIn('drafts')
    const ends = ['/a', '/b'].map((path) => ledger.begin(path))
    expect(lines()).toEqual(['"/a"', '"/b"'])
    expect([modeOf(file()), modeOf(join(file(), '..'))]).toEqual([0o600, 0o700])
    expect(file()).toMatch(new RegExp(`/${process.pid}-[0-9a-f]{12}\\.drafts\\.jsonl$`))
    ledger.close()
    for (const end of ends) {
      expect(readdirSync(join(folder, 'data/drafts'))).toHaveLength(1)
      end()
    }
    expect(readdirSync(join(folder, 'data/drafts'))).toEqual([])
  })

  it('is emptied when nothing is under way and it has more than 65,536 bytes', () => {
    const { ledger, lines } = ledgerIn('drafts')
    const draft = (bytes: number) => ledger.begin('x'.repeat(bytes - 3))
    draft(65_536)()
    expect(lines()).toHaveLength(1)
    const [one, other] = [draft(4), draft(4)]
    one()
    expect(lines()).toHaveLength(3)
    other()
    expect(lines()).toEqual([])
    draft(65_536)()
    expect(lines()).toHaveLength(1)
    draft(4)()
    expect(lines()).toEqual([])
    ledger.close()
    ledger.close()
    expect(readdirSync(join(folder, 'data/drafts'))).toEqual([])
  })

  it('is none where no folder is for it', () => {
    const ledger = createDraftsLedger(undefined)
    ledger.begin('/a')()
    ledger.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('says where it cannot be kept, and what to do', () => {
    writeFileSync(join(folder, 'data'), '')
    expect(() => ledgerIn('drafts').ledger.begin('/a')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(
          /^The list of unfinished files cannot be kept in the data folder \(E[A-Z]+\)\.$/,
        ),
        fix: { key: 'data', hint: 'Point data to a folder that this user can create and write.' },
        details: { folder: join(folder, 'data/drafts'), errno: expect.stringMatching(/^E/) },
      }),
    )
  })
})

it('hashes what is there when a file has become shorter', async () => {
  const path = join(folder, 'f')
  writeFileSync(path, 'abcdef')
  const descriptor = openSync(path, 'r+')
  ftruncateSync(descriptor, 3)
  expect(await hashDescriptor(descriptor, 6, never)).toBe(sha256('abc'))
  closeSync(descriptor)
})
