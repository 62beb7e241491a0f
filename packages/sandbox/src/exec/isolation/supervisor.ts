import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createPrivateFolder, privateFolder } from '../../system/index.ts'

let supervisor: { readonly path?: string } | undefined

/**
 * The program of a sandbox's supervisor: a copy of the shell that can be run and not read. The kernel lets no other
 * process of the same user into the memory and the descriptors of such a program. Undefined if none can be created.
 */
export function supervisorFile(): string | undefined {
  if (!canSupervise()) return undefined
  // Programs cannot be run from every folder: /run is often mounted without that right.
  if (!supervisor?.path || !existsSync(supervisor.path)) {
    supervisor = { path: createSupervisor(privateFolder()) ?? createSupervisor(createPrivateFolder(tmpdir())) }
  }
  return supervisor.path
}

/**
 * Only with dash: bash runs a file without #! in its own process, with the descriptors of the supervisor still open. And
 * not where the owner of the machine lets users read the memory of such programs.
 */
function canSupervise(): boolean {
  try {
    return (
      basename(realpathSync('/bin/sh')) === 'dash' && readFileSync('/proc/sys/fs/suid_dumpable', 'utf8').trim() !== '1'
    )
  } catch {
    return false
  }
}

function createSupervisor(folder: string): string | undefined {
  const path = join(folder, 'supervisor')
  try {
    copyFileSync(realpathSync('/bin/sh'), path)
    chmodSync(path, 0o111)
    return spawnSync(path, ['-c', ':'], { env: {}, stdio: 'ignore' }).status === 0 ? path : undefined
  } catch {
    // Sandboxes are then used once.
    return undefined
  }
}
