import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../test/support/file-hub.ts'
import { applyPatch } from './apply-patch.ts'
import { copy } from './copy.ts'
import { deletePath } from './delete-path.ts'
import { edit } from './edit.ts'
import { find } from './find.ts'
import { listDir } from './list-dir.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { readText } from './read-text.ts'
import { searchText } from './search-text.ts'
import { sha256 } from './sha256.ts'
import { stat } from './stat.ts'
import { writeText } from './write-text.ts'

const TOOLS = [
  applyPatch,
  copy,
  deletePath,
  edit,
  find,
  listDir,
  mkdir,
  move,
  readText,
  searchText,
  sha256,
  stat,
  writeText,
]
const FILES = {
  'app.py': 'def main():\n    pass\n',
  'build/out.js': '',
  'config.json': '{ "debug": false }\n',
  'data/export.csv': 'a,b\n',
  'download.zip': 'PK',
  'draft.md': '# Draft\n',
  'notes.md': 'teh notes, deprecated\n',
  'old/a.txt': '',
  'server.log': 'started\n',
  'template/a.txt': '',
}
const POLICY = [{ allow: 'read:fs' }, { allow: 'write:fs' }, { allow: 'danger:destructive' }] as const

describe.each(TOOLS)('the examples of $name', (tool) => {
  it.each(tool.examples!.map(({ input }) => [JSON.stringify(input), input] as const))('%s works', async (_, input) => {
    const { call } = fileHub(FILES, { tools: TOOLS, policy: POLICY })
    const { error, evidence } = await call(tool.name, input)
    expect(error).toBeUndefined()
    expect(evidence[0]).toMatchObject({ type: 'file' })
  })
})
