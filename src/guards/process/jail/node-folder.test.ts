import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../../test/support/jail-spec.ts'
import { nodeFolder } from './node-folder.ts'

describe('the folder of Node', () => {
  it('is let in where it holds nothing else', async () => {
    const folder = await folderWith({
      'bin/node': '',
      'bin/npm': '',
      'lib/node_modules/npm/x': '',
      'share/man': '',
      LICENSE: '',
    })
    expect(nodeFolder(join(folder, 'bin/node'))).toBe(folder)
  })

  it('is not where it holds more, or is no installation', async () => {
    const home = await folderWith({ 'bin/node': '', 'lib/node_modules/npm/x': '', '.ssh/id_rsa': '' })
    expect(nodeFolder(join(home, 'bin/node'))).toBeUndefined()
    const bare = await folderWith({ 'bin/node': '' })
    expect(nodeFolder(join(bare, 'bin/node'))).toBeUndefined()
  })

  it('needs nothing below /usr', () => {
    expect(nodeFolder('/usr/bin/env')).toBeUndefined()
  })
})
