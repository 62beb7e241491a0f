import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporary-folder.ts'

const run = promisify(execFile)

/** A program as Debian builds it. It is not installed: what is missing of it is unpacked into a temporary folder. */
export async function debianProgram(name: string, path: string) {
  const installed = join('/', path)
  const folder = existsSync(installed) ? '/' : await unpack(name)
  const libraries = readdirSync(join(folder, 'usr/lib')).filter((each) => each.endsWith('-linux-gnu'))
  const folders = ['systemd', ...libraries].flatMap((each) => [`usr/lib/${each}`, `lib/${each}`])
  const found = folder === '/' ? {} : { LD_LIBRARY_PATH: folders.map((each) => join(folder, each)).join(':') }
  const env = { ...process.env, ...found, SYSTEMD_COLORS: '0' }
  const use = async (...words: string[]) => {
    const { stdout, stderr } = await run(join(folder, path), words, { env, maxBuffer: 1e7 })
    return stdout + stderr
  }
  const start = (...words: string[]): ChildProcess => spawn(join(folder, path), words, { env, stdio: 'ignore' })
  return Object.assign(use, { start })
}

async function unpack(name: string): Promise<string> {
  const [folder, archives, lists] = ['program', 'archives', 'lists'].map((each) => temporaryFolder(each)) as [
    string,
    string,
    string,
  ]
  for (const each of [archives, lists]) mkdirSync(join(each, 'partial'))
  const settings = [`Dir::Cache::archives=${archives}`, 'Debug::NoLocking=1', 'APT::Sandbox::User=root']
  const get = (...words: string[]) =>
    run('apt-get', ['-qq', '-y', ...settings.flatMap((each) => ['-o', each]), ...words])
  const install = ['--no-install-recommends', '--download-only', 'install', name]
  const own = ['-o', `Dir::State::lists=${lists}`]
  await get(...install).catch(async () => {
    // This machine has no list of packages, or an old one.
    await get(...own, 'update')
    await get(...own, ...install)
  })
  for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb')))
    await run('dpkg-deb', ['-x', join(archives, file), folder])
  return folder
}
