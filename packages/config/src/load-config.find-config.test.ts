import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONFIG_NAMES, findConfig, loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
  await mkdir(path.join(folder, 'project/src/deep'), { recursive: true })
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const at = (name: string) => path.join(folder, name)

describe('findConfig', () => {
  it.each(CONFIG_NAMES)('finds %s from a folder further down', async (name) => {
    await writeFile(at(`project/${name}`), '')
    expect(await findConfig(at('project/src/deep'))).toBe(at(`project/${name}`))
  })

  it('takes the nearest', async () => {
    await writeFile(at('tool-hub.yaml'), '')
    await writeFile(at('project/src/tool-hub.json'), '')
    expect(await findConfig(at('project/src/deep'))).toBe(at('project/src/tool-hub.json'))
    expect(await findConfig(at('project'))).toBe(at('tool-hub.yaml'))
  })

  it('finds nothing when there is none up to the root', async () => {
    expect(await findConfig(at('project/src/deep'))).toBeUndefined()
  })

  it('starts from a folder that does not exist yet', async () => {
    await writeFile(at('tool-hub.yaml'), '')
    expect(await findConfig(at('project/not/there'))).toBe(at('tool-hub.yaml'))
  })

  it('refuses two in one folder and names both', async () => {
    await writeFile(at('project/tool-hub.yaml'), '')
    await writeFile(at('project/tool-hub.mjs'), '')
    await expect(findConfig(at('project/src'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${at('project')} holds tool-hub.yaml and tool-hub.mjs: which one counts is not clear.`,
      fix: { hint: 'Keep one of them, or name it with --config.' },
    })
  })

  it('does not pass over a broken link', async () => {
    await writeFile(at('tool-hub.yaml'), '')
    await symlink(at('gone'), at('project/tool-hub.yaml'))
    expect(await findConfig(at('project/src'))).toBe(at('project/tool-hub.yaml'))
  })

  it.skipIf(process.getuid?.() !== 0).each(['project/tool-hub.mjs', 'project'])(
    'does not take it when %s belongs to another user',
    async (name) => {
      await writeFile(at('project/tool-hub.mjs'), '')
      await chown(at(name), 12_345, 12_345)
      await expect(findConfig(at('project/src'))).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('belongs to user 12345, not to you (user 0) or root'),
        fix: { hint: expect.stringMatching(/name it: --config .*tool-hub\.mjs\. To have it found: chown 0 /) },
      })
    },
  )

  it.each([
    ['the file', 'project/tool-hub.yaml', 0o666],
    ['its folder', 'project', 0o777],
    ['its folder, as to /tmp', 'project', 0o1777],
  ])('does not take it when anybody may write to %s', async (_what, name, mode) => {
    await writeFile(at('project/tool-hub.yaml'), '')
    await chmod(at(name), mode)
    await expect(findConfig(at('project/src'))).rejects.toThrow('can be written by other users')
    await chmod(at(name), 0o700)
    expect(await findConfig(at('project/src'))).toBe(at('project/tool-hub.yaml'))
  })

  it('does not follow a link to what others may write', async () => {
    await mkdir(at('shared'))
    await writeFile(at('shared/rules.yaml'), '')
    await symlink(at('shared/rules.yaml'), at('project/tool-hub.yaml'))
    expect(await findConfig(at('project/src'))).toBe(at('project/tool-hub.yaml'))
    await chmod(at('shared/rules.yaml'), 0o666)
    await expect(findConfig(at('project/src'))).rejects.toThrow('can be written by other users')
    await chmod(at('shared/rules.yaml'), 0o600)
    await chmod(at('shared'), 0o777)
    await expect(findConfig(at('project/src'))).rejects.toThrow(`lies in ${at('shared')}, which can be written`)
  })

  it('leaves a config that the user names to the user', async () => {
    await writeFile(at('project/tool-hub.yaml'), 'version: 1\n')
    await chmod(at('project/tool-hub.yaml'), 0o666)
    expect((await loadConfig({ file: at('project/tool-hub.yaml') })).file).toBe(at('project/tool-hub.yaml'))
    await expect(loadConfig({ cwd: at('project') })).rejects.toThrow('can be written by other users')
  })
})
