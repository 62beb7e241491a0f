import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { commandEnvironment } from '../../packages/sandbox/src/exec/isolation/environment.ts'
import type { SandboxSpec } from '../../packages/sandbox/src/exec/isolation/sandbox.ts'

/** A folder that is gone after the test, with files in it: a text, or null for a folder. */
export async function folderWith(files: Readonly<Record<string, string | null>> = {}): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(text === null ? path : join(path, '..'), { recursive: true })
    if (text !== null) await writeFile(path, text)
  }
  return folder
}

/** A sandbox around one writable folder. */
export function sandboxSpec(workspace: string, parts: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    level: 'full',
    roots: [{ path: workspace, mode: 'write' }],
    readable: [],
    writable: [],
    protect: [],
    hide: [],
    limits: { cpuSeconds: 20, memoryBytes: 1024 ** 3, processes: 200, fileBytes: 64 * 1024 ** 2, openFiles: 512 },
    environment: commandEnvironment(),
    ...parts,
  }
}
