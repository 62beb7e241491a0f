import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { GIT_SHIM, SHIM_FOLDER } from './git-settings.ts'
import { JAIL_HOME } from './jail-home.ts'
import type { JailOwner } from './jail-owner.ts'
import { privateFolder } from './private-folder.ts'

/** What programs need of /etc, and what holds neither secrets nor names of hosts and users. */
const WANTED =
  /^(ld\.so\.cache|ld\.so\.conf|ld\.so\.conf\.d|localtime|timezone|mime\.types|magic|magic\.mime|protocols|services|terminfo|fonts|xml|perl|os-release|debian_version|lsb-release|alpine-release|redhat-release|fedora-release|crypto-policies|java[-.\w]*|python[.\d]*)$/
const WANTED_BELOW = ['ssl/cert.pem', 'ssl/openssl.cnf', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf']

/** Too large to copy; bound as they are, into folders that are ready for them. */
const BOUND = ['alternatives', 'ssl/certs', 'ca-certificates/extracted', 'pki/ca-trust/extracted', 'pki/tls/certs']

/**
 * The /etc of a jail: a folder with copies, made once, because one mount is much faster than one for every file; and
 * what is bound into it. It knows one user and no host but localhost.
 */
export function etcFolder(owner: JailOwner): { readonly path: string; readonly bound: readonly string[] } {
  const path = join(privateFolder(), `etc.${owner.uid}.${owner.gid}`)
  const bound = BOUND.map((name) => join('/etc', name)).filter((folder) => existsSync(folder))
  if (!existsSync(path)) fill(path, owner, bound)
  return { path, bound }
}

function fill(path: string, owner: JailOwner, bound: readonly string[]): void {
  const draft = `${path}.draft`
  rmSync(draft, { recursive: true, force: true })
  makeFolder(draft)
  const names = readdirSync('/etc').filter((name) => WANTED.test(name))
  for (const name of [...names, ...WANTED_BELOW]) copy(join('/etc', name), join(draft, name))
  for (const [name, text] of Object.entries(ownFiles(owner))) {
    writeFileSync(join(draft, name), text)
    chmodSync(join(draft, name), 0o444)
  }
  makeFolder(join(draft, SHIM_FOLDER.slice('/etc'.length)))
  writeFileSync(join(draft, SHIM_FOLDER.slice('/etc'.length), 'git'), GIT_SHIM)
  chmodSync(join(draft, SHIM_FOLDER.slice('/etc'.length), 'git'), 0o555)
  for (const folder of bound) makeFolder(join(draft, folder.slice('/etc'.length)))
  renameSync(draft, path)
}

/** Links stay links: they lead into /usr, or to nothing. */
function copy(from: string, to: string): void {
  if (!existsSync(from)) return
  makeFolder(dirname(to))
  try {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    // What this user may not read, its commands may not either; how far it came is fine.
    if (errnoOf(error) !== 'EACCES') throw error
  }
}

/** Open to all whatever the umask says: a jail may run as another user than the hub. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path)
  chmodSync(path, 0o755)
}

function ownFiles({ uid, gid }: JailOwner): Record<string, string> {
  const user = uid === 0 ? 'root' : 'user'
  const group = gid === 0 ? 'root' : 'user'
  const nobody = uid === 65534 ? '' : 'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n'
  return {
    passwd: `${user}:x:${uid}:${gid}::${JAIL_HOME}:/bin/bash\n${nobody}`,
    group: `${group}:x:${gid}:\n${gid === 65534 ? '' : 'nogroup:x:65534:\n'}`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n',
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
  }
}
