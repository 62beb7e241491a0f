import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { etcFolder } from './mounts.ts'

const PASSWD = 'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n'

describe.runIf(process.platform === 'linux')('the /etc of a sandbox', () => {
  it.each([
    [0, 0, `root:x:0:0::/run/home:/bin/bash\n${PASSWD}`, 'root:x:0:\nnogroup:x:65534:\n'],
    [1234, 0, `user:x:1234:0::/run/home:/bin/bash\n${PASSWD}`, 'root:x:0:\nnogroup:x:65534:\n'],
    [1234, 1235, `user:x:1234:1235::/run/home:/bin/bash\n${PASSWD}`, 'user:x:1235:\nnogroup:x:65534:\n'],
    [65534, 65534, 'user:x:65534:65534::/run/home:/bin/bash\n', 'user:x:65534:\n'],
  ])('knows user %d of group %d, nobody else', (uid, gid, passwd, group) => {
    const { path } = etcFolder({ uid, gid, isOther: false })
    const text = (name: string) => readFileSync(join(path, name), 'utf8')
    expect([text('passwd'), text('group')]).toEqual([passwd, group])
  })

  it('names no host but this one and asks no service for names', () => {
    const { path } = etcFolder({ uid: 0, gid: 0, isOther: false })
    expect(readFileSync(join(path, 'hosts'), 'utf8')).toBe('127.0.0.1 localhost\n::1 localhost\n')
    expect(readFileSync(join(path, 'nsswitch.conf'), 'utf8')).toBe(
      'passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n',
    )
  })

  it('can be read by every user and written by none of them', () => {
    const { path } = etcFolder({ uid: 0, gid: 0, isOther: false })
    const mode = (name: string) => (statSync(join(path, name)).mode & 0o777).toString(8)
    expect(['.', 'passwd', 'group', 'hosts', 'tool-hub', 'tool-hub/bin', 'tool-hub/bin/git'].map(mode)).toEqual([
      ...['755', '444', '444', '444', '755', '755', '555'],
    ])
  })

  it('has no settings, users or keys of the machine, and a place for each folder that is bound', () => {
    const { path, bound } = etcFolder({ uid: 0, gid: 0, isOther: false })
    const names = readdirSync(path)
    for (const name of ['shadow', 'ssh', 'npmrc', 'gitconfig', 'hostname', 'machine-id', 'resolv.conf', 'sudoers']) {
      expect(names).not.toContain(name)
    }
    for (const folder of bound) expect(statSync(join(path, folder.slice('/etc'.length))).isDirectory()).toBe(true)
    expect(bound.every((folder) => folder.startsWith('/etc/'))).toBe(true)
  })
})
