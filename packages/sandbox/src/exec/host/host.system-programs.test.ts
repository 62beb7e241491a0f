import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith } from '../../../../../test/support/sandbox-spec.ts'
import { runAs } from '../isolation/sandbox.ts'
import { findProgram, needProgram, nodeFolder } from './host.ts'

describe('a program that makes a sandbox', () => {
  it('is looked for in the folders of the system only', async () => {
    const folder = await folderWith({ 'tool-hub-no-such-program': '#!/bin/sh\n' })
    vi.stubEnv('PATH', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(findProgram('sh')).toBe('/usr/bin/sh')
    expect(findProgram('sh')).toBe('/usr/bin/sh')
    expect(findProgram('tool-hub-no-such-program')).toBeUndefined()
  })

  it('is named with its package where it is missing', () => {
    expect(needProgram('sh', 'dash')).toBe('/usr/bin/sh')
    expect(() => needProgram('tool-hub-no-such-program', 'some-package')).toThrow(
      expect.objectContaining({
        code: 'SANDBOX_UNAVAILABLE',
        message: 'tool-hub-no-such-program is not installed; the sandbox needs it.',
        fix: expect.objectContaining({ hint: 'Install it (apt install some-package), then start the hub again.' }),
      }),
    )
  })
})

describe('the user of a sandbox', () => {
  it('is changed to where it is another than the hub, without its groups', () => {
    expect(runAs({ uid: 0, gid: 0, isOther: false }, ['a', 'b'])).toEqual(['a', 'b'])
    expect(runAs({ uid: 1000, gid: 1001, isOther: true }, ['a', 'b'])).toEqual([
      ...[expect.stringMatching(/\/setpriv$/), '--reuid=1000', '--regid=1001', '--clear-groups', '--', 'a', 'b'],
    ])
  })
})

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

  it('is not if it holds more, or is not an installation', async () => {
    const home = await folderWith({ 'bin/node': '', 'lib/node_modules/npm/x': '', '.ssh/id_rsa': '' })
    expect(nodeFolder(join(home, 'bin/node'))).toBeUndefined()
    const bare = await folderWith({ 'bin/node': '' })
    expect(nodeFolder(join(bare, 'bin/node'))).toBeUndefined()
  })

  it('needs nothing below /usr', () => {
    expect(nodeFolder('/usr/bin/env')).toBeUndefined()
  })
})
