import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONFIG_NAMES, findConfig } from './find-config.ts'

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

  it.skipIf(process.getuid?.() !== 0)(
    "does not take a stranger's file from a folder where anybody may write",
    async () => {
      await writeFile(at('project/tool-hub.mjs'), '')
      await chown(at('project/tool-hub.mjs'), 12_345, 12_345)
      expect(await findConfig(at('project/src'))).toBe(at('project/tool-hub.mjs'))
      await chmod(at('project'), 0o1777)
      await expect(findConfig(at('project/src'))).rejects.toThrow('belongs to another user')
    },
  )
})
