import { isOutOfResources, lazyModule } from '../../../disk/lazy-module.ts'

const loadRipgrepPath = lazyModule(async () => (await import('@vscode/ripgrep')).rgPath)

/** Which engine searches here, and why. */
export interface SearchEngineFacts {
  readonly engine: 'ripgrep' | 'built-in'
  readonly detail: string
}

/** Says for `tool-hub doctor` which engine searches here, by starting it. */
export async function searchEngine(find: () => Promise<string | undefined> = ripgrepPath): Promise<SearchEngineFacts> {
  const rgPath = await find()
  if (rgPath === undefined) return builtIn('its package for this platform is not installed')
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    execFile(rgPath, ['--no-config', '--version'], { env: {}, timeout: 5000 }, (error, stdout) => {
      if (error) resolve(builtIn(`it does not start (${error.code ?? error.message})`))
      else resolve({ engine: 'ripgrep', detail: stdout.split('\n')[0]!.trim() })
    })
  })
}

/** The path of the ripgrep binary that its package carries; undefined when there is none for this platform. */
export async function ripgrepPath(): Promise<string | undefined> {
  try {
    return await loadRipgrepPath()
  } catch (error) {
    if (isOutOfResources(error)) throw error
    // The package throws while it loads when the binary of this platform was not installed.
    return undefined
  }
}

function builtIn(why: string): SearchEngineFacts {
  return {
    engine: 'built-in',
    detail: `ripgrep is missing: ${why}. Searching works, but slower; npm install --include=optional brings it.`,
  }
}
